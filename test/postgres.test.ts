import { Pool } from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, describe } from 'vitest';

import { postgresStore } from '../src/store/postgres/postgres-store.ts';
import type { PostgresHandle } from '../src/store/postgres/postgres-store.ts';
import type { ContractStore } from '../src/testing/contract-store.ts';
import { noPostgres, startPostgres } from './support/postgres-server.ts';
import type { PostgresServer } from './support/postgres-server.ts';
import { storeContract } from './support/store-contract.ts';

const CLIENTS: readonly { readonly name: string; readonly open: (url: string) => PostgresHandle }[] = [
  { name: 'postgres', open: (url) => postgres(url, { max: 4, fetch_types: false, onnotice: () => undefined }) },
  { name: 'pg', open: (connectionString) => new Pool({ connectionString, max: 4 }) },
];

describe.skipIf(noPostgres !== undefined)(
  `a real PostgreSQL${noPostgres === undefined ? '' : ` (skipped: ${noPostgres})`}`,
  () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres({ fsync: 'off' });
    });
    afterAll(() => server.dispose());

    for (const { name, open } of CLIENTS) {
      for (const partitioning of ['none', 'monthly'] as const) {
        let schemas = 0;
        storeContract(
          `postgresStore with ${name} and partitioning ${partitioning}`,
          async (): Promise<ContractStore> => {
            const handle = open(server.url);
            const schema = `contract_${name}_${partitioning}_${(schemas += 1)}`;
            let store = postgresStore(handle, { schema, partitioning });
            return {
              store,
              damage: async (damage) => {
                const run = `run_no = (SELECT run_no FROM ${schema}.runs WHERE run_id = '${damage.runId}')`;
                const changed = (column: string): string => `${column} = replace(${column}, 'a', 'e')`;
                const sql = {
                  record: () => `UPDATE ${schema}.records SET json = replace(json, 'call-', 'cell-') WHERE ${run}`,
                  'missing record': () => `DELETE FROM ${schema}.records WHERE ${run}`,
                  summary: () => `UPDATE ${schema}.runs SET ${changed('summary')} WHERE ${run}`,
                  snapshot: () => `UPDATE ${schema}.snapshots SET ${changed('json')} WHERE ${run}`,
                }[damage.what]();
                const text = 'seq' in damage ? `${sql} AND seq = ${damage.seq}` : sql;
                await ('unsafe' in handle ? handle.unsafe(text) : handle.query({ text }));
              },
              reopen: async () => {
                await store.close();
                store = postgresStore(handle, { schema });
                return store;
              },
              dispose: async () => {
                await store.close();
                if ('unsafe' in handle) await handle.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
                else await handle.query({ text: `DROP SCHEMA IF EXISTS ${schema} CASCADE` });
                await handle.end();
              },
            };
          },
        );
      }
    }
  },
);
