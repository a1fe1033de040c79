import { setTimeout as sleep } from 'node:timers/promises';

import { Pool } from 'pg';
import { expect, test } from 'vitest';

import { postgresStore } from '../src/stores/postgres/postgres-store.ts';
import type { PostgresStore } from '../src/stores/postgres/postgres-store.ts';
import { noPostgres, runSql, startPostgres } from './support/postgres-server.ts';
import type { PostgresServer } from './support/postgres-server.ts';
import { readAll, scriptCalls } from './support/script-records.ts';
import { startTcpProxy } from './support/tcp-proxy.ts';

const skipped = noPostgres === undefined ? '' : ` (skipped: ${noPostgres})`;

test.skipIf(noPostgres !== undefined)(
  `with a quorum of two standbys nothing acknowledged is lost when the primary is killed and a standby promoted${skipped}`,
  async () => {
    const cleanUps: (() => Promise<unknown>)[] = [];
    try {
      const { primary, standbys } = await startCluster(cleanUps);
      const proxy = await startTcpProxy(primary.port);
      const connectionString = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
      const stores = [1, 2].map(() => postgresStore(new Pool({ connectionString, max: 2 }), { endHandle: true }));
      cleanUps.push(() => proxy.dispose(), ...stores.map((store) => () => store.close()));

      let isOver = false;
      const acknowledged = new Map<string, number>();
      const writers = stores.flatMap((store, client) =>
        ['a', 'b'].map((name) => write(store, `client-${client}-${name}`, { acknowledged, isOver: () => isOver })),
      );
      await sleep(1000);
      await primary.kill();
      const atKill = new Map(acknowledged);
      const promoted = await mostAdvanced(standbys);
      await promoted.promote();
      proxy.pointTo(promoted.port);
      proxy.drop();
      const goesOn = () => [...atKill].every(([run, seq]) => (acknowledged.get(run) ?? 0) > seq + 20);
      while (!goesOn()) await sleep(20);
      isOver = true;
      await Promise.all(writers);

      const reader = postgresStore(new Pool({ connectionString: promoted.url }), { endHandle: true });
      cleanUps.push(() => reader.close());
      expect(atKill.size).toBe(4);
      for (const [runId, lastSeq] of acknowledged) {
        expect(lastSeq, `${runId} went on after the kill`).toBeGreaterThan((atKill.get(runId) ?? 0) + 20);
        const seqs = (await readAll(reader, runId)).map(({ seq }) => seq);
        expect(seqs).toEqual(Array.from({ length: lastSeq + 1 }, (_, index) => index));
      }
    } finally {
      for (const cleanUp of cleanUps.reverse()) await cleanUp();
    }
  },
);

interface Cluster {
  readonly primary: PostgresServer;
  readonly standbys: readonly PostgresServer[];
}

/** A primary that commits when one of two standbys has the log on its disk. */
async function startCluster(cleanUps: (() => Promise<unknown>)[]): Promise<Cluster> {
  const primary = await startPostgres({ wal_level: 'replica', max_wal_senders: '5', hot_standby: 'on' });
  cleanUps.push(() => primary.dispose());
  await primary.stop('fast');
  const standbys = [await primary.copyAsStandby('s1'), await primary.copyAsStandby('s2')];
  cleanUps.push(...standbys.map((standby) => () => standby.dispose()));
  await primary.configure({ synchronous_standby_names: "'ANY 1 (s1, s2)'" });
  await Promise.all([primary, ...standbys].map((server) => server.start()));
  for (;;) {
    const states = await runSql(primary.url, "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'");
    if (states.length === 2 && states.every((row) => row['sync_state'] === 'quorum')) break;
    await sleep(50);
  }
  return { primary, standbys };
}

interface Writing {
  readonly acknowledged: Map<string, number>;
  readonly isOver: () => boolean;
}

async function write(store: PostgresStore, runId: string, { acknowledged, isOver }: Writing): Promise<void> {
  for (let seq = 0; !isOver(); seq += 3) acknowledged.set(runId, await store.append(scriptCalls(runId, 3, seq)));
}

/** Of the standbys, the one that has more of the log: the other may lack what the quorum acknowledged. */
async function mostAdvanced(standbys: readonly PostgresServer[]): Promise<PostgresServer> {
  const received = await Promise.all(
    standbys.map(async (standby) => {
      const [row] = await runSql(standby.url, "SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0') AS bytes");
      return { standby, bytes: Number(row?.['bytes']) };
    }),
  );
  const [first] = received.sort((left, right) => right.bytes - left.bytes);
  if (first === undefined) throw new Error('a cluster has standbys');
  return first.standby;
}
