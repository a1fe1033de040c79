import { Pool } from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';

import { postgresStore } from '../src/stores/postgres/postgres-store.ts';
import type { ContractStore } from './support/store-contract/contract-store.ts';
import { noPostgres, startPostgres } from './support/postgres-server.ts';
import type { PostgresServer } from './support/postgres-server.ts';
import { storeContract } from './support/store-contract.ts';

describe.skipIf(noPostgres !== undefined)(
  `a real PostgreSQL${noPostgres === undefined ? '' : ` (skipped: ${noPostgres})`}`,
  () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres({ fsync: 'off' });
    });
    afterAll(() => server.dispose());

    let schemas = 0;
    const open = async (): Promise<ContractStore> => {
      const pool = new Pool({ connectionString: server.url, max: 4 });
      const schema = `contract_${(schemas += 1)}`;
      let store = postgresStore(pool, { schema });
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
          await pool.query(text);
        },
        reopen: async () => {
          await store.close();
          store = postgresStore(pool, { schema });
          return store;
        },
        dispose: async () => {
          await store.close();
          await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
          await pool.end();
        },
      };
    };
    storeContract('postgresStore', open);
  },
);
