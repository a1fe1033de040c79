import type { TrajectoryStore } from '../../../src/core/store/trajectory-store.ts';
import type { StoredDamage, StoreContractCase } from './contract-store.ts';
import { listAll, scriptCalls } from '../script-records.ts';

const RECORDS = 5;

/** Tests a store whose rows were changed from outside. */
export function damageContract({ test, expect }: StoreContractCase): void {
  const check = (
    name: string,
    body: (store: TrajectoryStore, damage: (damage: StoredDamage) => Promise<void>) => Promise<void>,
  ): void =>
    test(name, async ({ store, damage }, skip) => {
      if (damage === undefined) return skip('the driver was not told how to damage what it stores');
      await store.append(scriptCalls('a', RECORDS));
      await store.transact('a', () => ({ records: [], snapshot: { at: RECORDS }, result: 0 }));
      await store.append(scriptCalls('b', RECORDS));
      await body(store, damage);
    });

  check(
    'reading yields the records before a damaged one, then an error with its run and seq; other runs stay readable',
    async (store, damage) => {
      await damage({ what: 'record', runId: 'a', seq: 3 });
      const seqs: number[] = [];
      const reading = (async (): Promise<void> => {
        for await (const { seq } of store.readRun('a')) seqs.push(seq);
      })();
      await expect(reading).rejects.toMatchObject({ code: 'store-damaged', details: { runId: 'a', seq: 3 } });
      expect(seqs).toEqual([0, 1, 2]);
      expect((await Array.fromAsync(store.readRun('a', { fromSeq: 4 }))).map(({ seq }) => seq)).toEqual([4]);
      expect(await Array.fromAsync(store.readRun('b'))).toEqual(scriptCalls('b', RECORDS));
      expect((await Array.fromAsync(store.verify())).some(({ runId, seq }) => runId === 'a' && seq === 3)).toBe(true);
      const { hits } = await store.search({ text: 'call-3', runId: 'a' });
      expect(hits).toEqual([]);
    },
  );

  check('a missing record counts as damage', async (store, damage) => {
    for (const [runId, seq] of [
      ['a', 2],
      ['b', RECORDS - 1],
    ] as const) {
      await damage({ what: 'missing record', runId, seq });
      await expect(Array.fromAsync(store.readRun(runId))).rejects.toMatchObject({
        code: 'store-damaged',
        details: { runId, seq },
      });
    }
    expect(await damagedRuns(store)).toEqual(new Set(['a', 'b']));
  });

  check('a run whose summary is damaged is listed with its problem', async (store, damage) => {
    await damage({ what: 'summary', runId: 'a' });
    const runs = await listAll(store);
    expect(runs.filter(({ problem }) => problem !== undefined).map(({ runId }) => runId)).toEqual(['a']);
    expect(runs).toHaveLength(2);
    expect((await store.findRun('a'))?.problem === undefined).toBe(false);
    expect(await damagedRuns(store)).toEqual(new Set(['a']));
  });

  check('a damaged snapshot is ignored, and the fold reads the records', async (store, damage) => {
    await damage({ what: 'snapshot', runId: 'a' });
    const view = await store.transact('a', ({ nextSeq, snapshot }) => ({ records: [], result: [nextSeq, snapshot] }));
    expect(view).toEqual([RECORDS, null]);
    expect(await damagedRuns(store)).toEqual(new Set(['a']));
  });
}

async function damagedRuns(store: TrajectoryStore): Promise<ReadonlySet<string | undefined>> {
  return new Set((await Array.fromAsync(store.verify())).map(({ runId }) => runId));
}
