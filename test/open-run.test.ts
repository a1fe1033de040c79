import { join } from 'node:path';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCoxswain, type Coxswain, type CoxswainOptions } from '../src/core/run/coxswain.ts';
import type { Run } from '../src/core/run/run.ts';
import { isDerived } from '../src/core/records/derived-payload.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { Replay } from '../src/core/replay/replay.ts';
import { ToolInvoked } from '../src/core/session/tool-invoked.ts';
import { toolUsageMonitor } from '../src/core/steering/feedback/built-in-feedback.ts';
import type { SteeringOptions } from '../src/core/steering/steering-options.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { postgresStore } from '../src/stores/postgres/postgres-store.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { readAll } from './support/script-records.ts';
import { noPostgres, startPostgres, type PostgresServer } from './support/postgres-server.ts';
import { testFolder } from './support/test-folder.ts';

const steering: SteeringOptions = {
  feedback: [{ provider: toolUsageMonitor({ maxCallsWithoutProgress: 100 }), trigger: { everyNCalls: 2 } }],
  guidance: [],
};

/** coxswain as another process has it: nothing is shared but the store. */
function processOn(store: TrajectoryStore, options: CoxswainOptions = {}): Coxswain {
  return createCoxswain({ store, clock: createFakeClock(), measureMs: () => 0, ...steering, ...options });
}

function call(run: Run, toolCallId: string): string | undefined {
  run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'read', args: { path: toolCallId } });
  run.emit({ type: 'tool_execution_end', toolCallId, toolName: 'read', result: toolCallId, isError: false });
  return run.feedback();
}

async function problemsOf(store: TrajectoryStore): Promise<readonly string[]> {
  const problems: string[] = [];
  for await (const { problem } of store.verify()) problems.push(problem);
  return problems;
}

const kinds = (records: readonly TrajectoryRecord[]): readonly string[] => records.map(({ payload }) => payload.kind);

test('a run goes on in another process as if there had been no break', async () => {
  const store = memoryStore();
  const first = processOn(store);
  expect(call(first.startRun({ runId: 'chat-1', conversationId: 'c' }), 'a')).toBeUndefined();
  await first.flush();
  const run = await processOn(store).openRun('chat-1');
  expect(call(run, 'b')).toContain('Progress check: 2 tool calls made.');
  expect([run.conversationId, run.durableSeq >= 3, run.analysis.calls]).toEqual(['c', true, 2]);
  await run.end();
  const records = await readAll(store, 'chat-1');
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index));
  expect(kinds(records).filter((kind) => kind.startsWith('run_'))).toEqual(['run_started', 'run_resumed', 'run_ended']);
  const replay = new Replay({ steering });
  const derived = records.map(({ payload }) => payload).filter(isDerived);
  expect(records.flatMap((record) => replay.take(record))).toEqual(derived);
  expect(await problemsOf(store)).toEqual([]);
});

test('a run is begun by the first process that opens it, and continued by the next', async () => {
  const store = memoryStore();
  const start = { task: 'Answer.' };
  for (const id of ['a', 'b', 'c', 'd']) {
    const run = await processOn(store).openRun('chat-1', { start });
    call(run, id);
    await run.flush();
  }
  expect(await store.findRun('chat-1')).toMatchObject({ calls: 4, task: 'Answer.' });
});

/** Begins one run in as many processes as there are stores, all at once. */
async function beginAtOnce(stores: readonly TrajectoryStore[]): Promise<number> {
  const open = async (store: TrajectoryStore, at: number): Promise<void> => {
    const run = await processOn(store, { clock: createFakeClock(at) }).openRun('chat-1', {
      start: { task: 'Answer.' },
    });
    call(run, `call-${at}`);
    expect(await run.flush()).toBe('stored');
  };
  await Promise.all(stores.map(open));
  const [store = memoryStore()] = stores;
  const records = await readAll(store, 'chat-1');
  const countOf = (kind: string): number => kinds(records).filter((one) => one === kind).length;
  expect([countOf('run_started'), countOf('run_resumed')]).toEqual([1, stores.length - 1]);
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, seq) => seq));
  for (const one of new Set(stores)) await one.close();
  return countOf('tool_ended');
}

test('of fifty processes that begin one run at once, none loses a record', async () => {
  const memory = memoryStore();
  expect(await beginAtOnce(Array.from({ length: 50 }, () => memory))).toBe(50);
  const file = join(testFolder(), 'runs.db');
  expect(await beginAtOnce(Array.from({ length: 50 }, () => sqliteStore(file)))).toBe(50);
});

test('a run that is not stored cannot be continued', async () => {
  const cox = processOn(memoryStore());
  await expect(cox.openRun('chat-1')).rejects.toMatchObject({ code: 'run-unknown' });
  await expect(createCoxswain().openRun('chat-1')).rejects.toMatchObject({ code: 'invalid-argument' });
});

test('a second run under one id is an error that says how to continue the first', async () => {
  const cox = processOn(memoryStore());
  cox.startRun({ runId: 'chat-1' });
  expect(() => cox.startRun({ runId: 'chat-1' })).toThrow(
    expect.objectContaining({ code: 'run-exists', message: expect.stringContaining('openRun') }),
  );
});

test('where another process has stored a run of that id, flush and end say so', async () => {
  const store = memoryStore();
  await processOn(store).startRun({ runId: 'chat-1', task: 'the first' }).flush();
  const cox = processOn(store, { clock: createFakeClock(5) });
  const third = cox.startRun({ runId: 'chat-1', task: 'the third' });
  expect(await third.flush()).toBe('incomplete');
  expect(await third.end()).toEqual({ stored: false, lostRecords: 2 });
  expect(cox.health().recorder?.lastFault).toContain('continue it with openRun');
  const strict = processOn(store, { clock: createFakeClock(5), onFailure: 'throw' });
  const second = strict.startRun({ runId: 'chat-1', task: 'the second' });
  await expect(second.flush()).rejects.toMatchObject({ code: 'run-exists' });
  await expect(second.end()).rejects.toMatchObject({ code: 'run-exists' });
  expect(second.durableSeq).toBe(-1);
  expect(kinds(await readAll(store, 'chat-1'))).toEqual(['run_started']);
});

test('within a process an open run is given as it is, and one that ended goes on', async () => {
  const cox = processOn(memoryStore());
  const run = cox.startRun({ runId: 'chat-1' });
  expect(await cox.openRun('chat-1')).toBe(run);
  call(run, 'a');
  await run.end();
  const [again, same] = await Promise.all([cox.openRun('chat-1'), cox.openRun('chat-1')]);
  expect(again).toBe(same);
  expect([again.isEnded, again.analysis.calls]).toEqual([false, 1]);
});

test('a call that waits for an approval is answered in another process', async () => {
  const store = memoryStore();
  const first = processOn(store);
  const firstRun = first.startRun({ runId: 'order' });
  firstRun.emit({ type: 'tool_execution_start', toolCallId: 'pay', toolName: 'pay', args: { sum: 5 } });
  await first.flush();
  const day = createFakeClock(1_700_086_400_000);
  const approved = await processOn(store, { clock: day }).openRun('order', { trigger: 'approval' });
  approved.emit({ type: 'tool_execution_end', toolCallId: 'pay', toolName: 'pay', result: 'paid', isError: false });
  await approved.end();
  expect(approved.analysis.recentCalls(1)[0]).toMatchObject({ tool: 'pay' });
  expect(approved.session.slice(ToolInvoked).latest()).toMatchObject({ paramsPreview: '{"sum":5}', success: true });
  expect(await store.findRun('order')).toMatchObject({ calls: 1, outcome: 'ended', openCalls: [] });
});

test('the state of a long run is saved at its flush and its end, and the next process goes on from it', async () => {
  const store = memoryStore();
  const first = processOn(store, { retain: 'compact' });
  const begun = first.startRun({ runId: 'long' });
  for (let at = 0; at < 150; at += 1) call(begun, `a${at}`);
  await begun.flush();
  const second = await processOn(store, { retain: 'compact' }).openRun('long');
  call(second, 'b');
  await second.flush();
  const saved = await store.transact('long', ({ snapshot, snapshotSeq, nextSeq }) => ({
    records: [],
    result: { chars: JSON.stringify(snapshot).length, covers: nextSeq - snapshotSeq },
  }));
  // Less than the number of records that is worth writing the state again.
  expect(saved.covers).toBeLessThan(200);
  expect(saved.chars).toBeGreaterThan(1024);
  const third = await processOn(store, { retain: 'compact' }).openRun('long');
  expect(third.analysis.calls).toBe(151);
  expect(call(third, 'c')).toContain('You have made 152 tool calls.');
});

test('a run that its process never flushed is folded in turns of the event loop, and its state is not cut', async () => {
  const store = memoryStore();
  const first = processOn(store);
  const begun = first.startRun({ runId: 'killed' });
  for (let at = 0; at < 1500; at += 1) call(begun, `a${at}`);
  await first.flush();
  let turns = 0;
  const counter = setInterval(() => (turns += 1), 0);
  const run = await processOn(store)
    .openRun('killed')
    .finally(() => clearInterval(counter));
  expect(turns).toBeGreaterThan(10);
  expect(run.analysis.calls).toBe(1500);
  expect(call(run, 'b')).toBe(call(begun, 'b'));
});

test('a run that another process extends while it is opened is opened with all its calls', async () => {
  const store = memoryStore();
  const writer = processOn(store);
  const begun = writer.startRun({ runId: 'busy' });
  for (let at = 0; at < 600; at += 1) call(begun, `a${at}`);
  await writer.flush();
  const opening = processOn(store).openRun('busy');
  let more = 0;
  for (let round = 0; round < 40; round += 1) {
    for (let at = 0; at < 50; at += 1) call(begun, `more${(more += 1)}`);
    await writer.flush();
  }
  const run = await opening;
  expect(run.analysis.calls).toBeGreaterThanOrEqual(600);
  expect(run.analysis.calls).toBeLessThanOrEqual(600 + more);
  await run.end();
  expect(await problemsOf(store)).toEqual([]);
});

test('a state that cannot be saved loses no record and does not reject the flush', async () => {
  const store = memoryStore();
  const cox = processOn(Object.assign(store, { transact: () => Promise.reject(new Error('read-only')) }));
  const run = cox.startRun({ runId: 'a' });
  for (let at = 0; at < 400; at += 1) call(run, `a${at}`);
  expect(await run.end()).toEqual({ stored: true, lostRecords: 0 });
  expect(cox.health().lastFault).toBe('saving the state: read-only');
});

/** Opens the same database again, as another process does. */
type OpenAgain = () => TrajectoryStore;

/** @returns calls that a third process knows of, after two made 40 each */
async function callsOfTwo(open: OpenAgain, runId: string): Promise<number> {
  const [storeA, storeB] = [open(), open()];
  const [a, b] = [processOn(storeA), processOn(storeB, { clock: createFakeClock(1_700_000_500_000) })];
  const first = a.startRun({ runId });
  await first.flush();
  const second = await b.openRun(runId);
  for (let at = 0; at < 40; at += 1) {
    call(first, `a${at}`);
    call(second, `b${at}`);
    if (at % 7 === 0) await Promise.all([a.flush(), b.flush()]);
  }
  expect(await Promise.all([a.flush(), b.flush()])).toEqual(['stored', 'stored']);
  const records = await readAll(storeA, runId);
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index));
  const ended = records.flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload.tool_call_id] : []));
  expect(ended.filter((id) => id.startsWith('a'))).toEqual(Array.from({ length: 40 }, (_, at) => `a${at}`));
  expect(ended.filter((id) => id.startsWith('b'))).toEqual(Array.from({ length: 40 }, (_, at) => `b${at}`));
  // References to other records are still correct.
  for (const { payload } of records) {
    if (payload.kind !== 'feedback_produced') continue;
    expect(records[payload.cause_seq]?.payload.kind).toBe('evaluation');
    expect(payload.advice_id).toBe(`a${payload.cause_seq}-${payload.ordinal}`);
  }
  const produced = records.flatMap(({ payload }) => (payload.kind === 'feedback_produced' ? [payload.advice_id] : []));
  const delivered = records.flatMap(({ payload }) =>
    payload.kind === 'feedback_delivered' ? [payload.advice_id] : [],
  );
  expect(produced.length).toBeGreaterThan(20);
  expect(delivered.toSorted()).toEqual(produced.toSorted());
  const third = await processOn(storeB).openRun(runId);
  expect(await problemsOf(storeA)).toEqual([]);
  await Promise.all([a.close(), b.close()]);
  return third.analysis.calls;
}

test('two processes add to one run in SQLite, and neither loses anything', async () => {
  const folder = testFolder();
  expect(await callsOfTwo(() => sqliteStore(join(folder, 'runs.db')), 'shared')).toBe(80);
});

describe.skipIf(noPostgres !== undefined)(
  `PostgreSQL${noPostgres === undefined ? '' : ` (skipped: ${noPostgres})`}`,
  () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres({ fsync: 'off' });
    });
    afterAll(() => server.dispose());

    test('two processes add to one run in PostgreSQL, and neither loses anything', async () => {
      const open = (): TrajectoryStore =>
        postgresStore(new Pool({ connectionString: server.url, max: 4 }), { endHandle: true });
      expect(await callsOfTwo(open, 'shared')).toBe(80);
    });

    test('of twenty processes that begin one run at once in PostgreSQL, none loses a record', async () => {
      const open = (): TrajectoryStore =>
        postgresStore(new Pool({ connectionString: server.url, max: 2 }), { endHandle: true });
      expect(await beginAtOnce(Array.from({ length: 20 }, open))).toBe(20);
    });
  },
);
