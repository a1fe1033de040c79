import { present } from '../../../src/core/base/json.ts';
import type { TrajectoryPayload } from '../../../src/core/records/trajectory-record.ts';
import { listAll, scriptCalls, scriptRecord, scriptRun } from '../script-records.ts';
import type { StoreContractCase } from './contract-store.ts';

/** Tests of `listRuns` and `findRun`. */
export function listContract({ test, expect }: StoreContractCase): void {
  test('a summary counts turns, calls and errors and has the outcome of the run', async ({ store }) => {
    const payloads: readonly TrajectoryPayload[] = [
      {
        kind: 'run_started',
        identity: { run_id: 'a', depth: 0, model_id: 'm-1' },
        task: 'x'.repeat(250),
        source: 's.json#1',
        format: 'steps',
      },
      { kind: 'turn_started' },
      { kind: 'tool_started', tool_call_id: '1', tool_name: 'read', args: {} },
      { kind: 'tool_ended', tool_call_id: '1', tool_name: 'read', result: 'no', is_error: true },
      { kind: 'tool_started', tool_call_id: '2', tool_name: 'read', args: {} },
      { kind: 'tool_ended', tool_call_id: '2', tool_name: 'read', result: 'yes', is_error: false },
      { kind: 'run_ended', outcome: 'limit', new_messages: [], success: false, reward: 0.5 },
    ];
    await store.append(scriptRun('a', payloads, { startMs: 5000 }));
    const expected = {
      runId: 'a',
      depth: 0,
      startedAtMs: 5000,
      lastAtMs: 5006,
      records: 7,
      lastSeq: 6,
      turns: 1,
      calls: 2,
      errors: 1,
      openCalls: [],
      outcome: 'limit',
      success: false,
      reward: 0.5,
      task: 'x'.repeat(200),
      source: 's.json#1',
      format: 'steps',
      modelId: 'm-1',
    };
    expect(await store.findRun('a')).toEqual(expected);
    expect((await store.listRuns()).runs).toEqual([expected]);
  });

  test('a result is joined to the call of an earlier append; a result without a start is a separate call', async ({
    store,
  }) => {
    await store.append(scriptCalls('a', 2));
    const results = ['call-1', 'lost'].map((id): TrajectoryPayload => {
      return { kind: 'tool_ended', tool_call_id: id, tool_name: 'read', result: '', is_error: false };
    });
    await store.append(scriptRun('a', results, { fromSeq: 2 }));
    expect(await store.findRun('a')).toMatchObject({ calls: 3, openCalls: ['call-0'] });
  });

  test('a child run names its parent and depth, and times of 0 are skipped', async ({ store }) => {
    const child = { ...scriptRecord({ runId: 'c', seq: 0, atMs: 0 }), parent_run_id: 'a', depth: 1 };
    await store.append([child]);
    expect(await store.findRun('c')).toMatchObject({ parentRunId: 'a', depth: 1, startedAtMs: 0, lastAtMs: 0 });
    await store.append([scriptRecord({ runId: 'c', seq: 1, atMs: 70 })]);
    expect(await store.findRun('c')).toMatchObject({ startedAtMs: 70, lastAtMs: 70 });
  });

  test('an empty store lists nothing', async ({ store }) => {
    expect(await store.listRuns()).toEqual({ runs: [] });
  });

  test('runs are listed newest first, ties by id in code point order, whatever the page size', async ({ store }) => {
    const startOf: readonly (readonly [string, number])[] = [
      ['old', 10],
      ['tie-b', 20],
      ['tie-a', 20],
      ['tie-\uffff', 20],
      ['tie-😀', 20],
      ['tie-', 20],
      ['new', 30],
      ['timeless', 0],
    ];
    for (const [runId, atMs] of startOf) await store.append([scriptRecord({ runId, seq: 0, atMs })]);
    const order = ['new', 'tie-', 'tie-a', 'tie-b', 'tie-\uffff', 'tie-😀', 'old', 'timeless'];
    for (const limit of [1, 2, 3, 7, 8, 9]) {
      expect((await listAll(store, limit)).map((run) => run.runId)).toEqual(order);
    }
    expect((await store.listRuns({ limit: 8 })).next).toBeUndefined();
  });

  test('a run that continues after its end is open again', async ({ store }) => {
    const position = { runId: 'resumed', atMs: 10 };
    await store.append([
      scriptRecord({ ...position, seq: 0 }),
      {
        ...scriptRecord({ ...position, seq: 1 }),
        payload: { kind: 'run_ended', outcome: 'ended', new_messages: [], success: true },
      },
    ]);
    expect(await store.findRun('resumed')).toMatchObject({ outcome: 'ended', success: true });
    await store.append([
      { ...scriptRecord({ ...position, seq: 2 }), payload: { kind: 'run_resumed', trigger: 'resume' } },
    ]);
    const summary = await store.findRun('resumed');
    expect(summary?.outcome).toBeUndefined();
    expect(summary?.success).toBeUndefined();
  });

  test('runs that arrive between pages neither repeat nor hide a run', async ({ store }) => {
    const addRun = (runId: string, atMs: number): Promise<number> =>
      store.append([scriptRecord({ runId, seq: 0, atMs })]);
    for (let index = 0; index < 6; index += 1) await addRun(`run-${index}`, 100 + index);
    const first = await store.listRuns({ limit: 3 });
    await addRun('newer', 500);
    await addRun('tie-before', 103);
    await addRun('late', 101);
    const secondPage = await store.listRuns({ limit: 3, ...present({ after: first.next }) });
    const third = await store.listRuns({ limit: 3, ...present({ after: secondPage.next }) });
    const listedIds = [...first.runs, ...secondPage.runs, ...third.runs].map((run) => run.runId);
    expect(listedIds).toEqual(['run-5', 'run-4', 'run-3', 'tie-before', 'run-2', 'late', 'run-1', 'run-0']);
    expect(third.next).toBeUndefined();
  });

  test('a page has 50 runs by default, and its size and cursor are validated', async ({ store }) => {
    for (let index = 0; index < 51; index += 1) await store.append([scriptRecord({ runId: `run-${index}`, seq: 0 })]);
    const page = await store.listRuns();
    expect(page.runs).toHaveLength(50);
    for (const limit of [0, -1, 1.5, 1001, Number.NaN]) {
      await expect(store.listRuns({ limit })).rejects.toMatchObject({ code: 'invalid-argument' });
    }
    const cursors = [
      '',
      'x',
      '!',
      'bnVsbA',
      `${page.next ?? ''}x`,
      (page.next ?? '').slice(1),
      Buffer.from('[1]').toString('base64url'),
    ];
    for (const after of cursors) {
      await expect(store.listRuns({ after })).rejects.toMatchObject({ code: 'invalid-argument' });
    }
  });
}
