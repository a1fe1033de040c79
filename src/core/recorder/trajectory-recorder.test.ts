import { expect, test } from 'vitest';
import { decodeRecord, parseRecord, encodeRecord } from '../records/decode-record.ts';
import type { AgentEvent, AgentIdentity } from '../records/agent-event.ts';
import type { AgentMessage } from '../records/agent-message.ts';
import { TRAJECTORY_SCHEMA_VERSION, type TrajectoryRecord } from '../records/trajectory-record.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { CoxswainError } from '../base/error.ts';
import {
  InMemoryTrajectorySink,
  sinkOf,
  TrajectoryRecorder,
  type TrajectoryRecorderOptions,
} from './trajectory-recorder.ts';

const root: AgentIdentity = { runId: 'r1', depth: 0, conversationId: 'conv-1' };
const answer: AgentMessage = { role: 'assistant', content: 'done' };

interface Setup {
  readonly recorder: TrajectoryRecorder;
  readonly play: (events: readonly AgentEvent[], stream?: string) => void;
  /** `run id: seqs: kinds` of every run. */
  readonly stored: () => Promise<Readonly<Record<string, readonly string[]>>>;
  readonly records: () => Promise<readonly TrajectoryRecord[]>;
}

function setUp(options: TrajectoryRecorderOptions = {}): Setup {
  const sink = new InMemoryTrajectorySink();
  let anonymousCount = 0;
  const recorder = new TrajectoryRecorder(sink, {
    clock: createFakeClock(1_000),
    newAnonymousId: () => `anonymous-${(anonymousCount += 1)}`,
    ...options,
  });
  const records = async (): Promise<readonly TrajectoryRecord[]> => {
    await recorder.flush();
    return sink.snapshot();
  };
  return {
    recorder,
    records,
    play: (events, stream) => {
      for (const event of events) recorder.onEvent(event, stream);
    },
    stored: async () => {
      const runs: Record<string, string[]> = {};
      for (const record of await records()) {
        const list = (runs[record.run_id ?? ''] ??= []);
        expect(record.seq).toBe(list.length);
        list.push(record.payload.kind);
      }
      return runs;
    },
  };
}

const start: AgentEvent = { type: 'agent_start' };
const turn: AgentEvent = { type: 'turn_start' };
const end: AgentEvent = { type: 'agent_end' };
const identified = (identity: AgentIdentity): AgentEvent => ({ type: 'run_identified', identity });
const childOf = (parentRunId: string, runId: string): AgentIdentity => ({ runId, parentRunId, depth: 1 });

test('the recorder writes ordered records with the run id', async () => {
  const { play, records } = setUp();
  play([start, identified(root), turn, { type: 'turn_end', message: answer, toolResults: [] }, end]);
  const stored = await records();
  // agent_start resets and leaves no record.
  expect(stored.map((record) => record.payload.kind)).toEqual([
    'run_started',
    'turn_started',
    'turn_ended',
    'run_ended',
  ]);
  for (const [index, record] of stored.entries()) {
    expect(record).toMatchObject({ seq: index, run_id: 'r1', schema_version: TRAJECTORY_SCHEMA_VERSION });
  }
  expect(stored.at(-1)?.payload).toMatchObject({ outcome: 'ended' });
});

test('a record without schema_version has the version before versioning', () => {
  const record = decodeRecord({ seq: 7, recorded_at_unix_ms: 123, payload: { kind: 'turn_started' } });
  expect(record).toMatchObject({ schema_version: 0, seq: 7 });
});

test('a record round-trips with its schema version', () => {
  const record: TrajectoryRecord = {
    schema_version: TRAJECTORY_SCHEMA_VERSION,
    seq: 1,
    run_id: 'r1',
    depth: 0,
    recorded_at_unix_ms: 1,
    payload: { kind: 'turn_started' },
  };
  expect(JSON.parse(encodeRecord(record))).toMatchObject({ schema_version: TRAJECTORY_SCHEMA_VERSION });
  expect(parseRecord(encodeRecord(record))).toEqual(record);
});

test('the recorder skips events that are only for streaming', async () => {
  const { recorder, play, records } = setUp();
  play([
    { type: 'message_start', message: { role: 'user', content: 'hi' } },
    { type: 'message_update', delta: 'h' },
    { type: 'tool_execution_update', toolCallId: '1', toolName: 'shell', partial: 'partial' },
  ]);
  await recorder.close();
  expect(await records()).toEqual([]);
});

test('events before the run is identified are held, and recorded after run_started with their own times', async () => {
  const { play, records, recorder } = setUp();
  play([start, { ...turn, atMs: 500 }, { type: 'message_end', message: answer, atMs: 600 }]);
  expect(await records()).toEqual([]);
  expect(recorder.runId()).toBeUndefined();
  play([identified(root), turn]);
  expect(recorder.runId()).toBe('r1');
  expect((await records()).map(({ payload, recorded_at_unix_ms: atMs }) => [payload.kind, atMs])).toEqual([
    ['run_started', 500],
    ['turn_started', 500],
    ['message_appended', 600],
    ['turn_started', 1_000],
  ]);
  expect(recorder.durableSeq('r1')).toBe(3);
});

test('events that are unidentified at the end, the next start or the close are recorded under a generated id', async () => {
  const { play, stored, recorder } = setUp();
  play([start, turn, end, start, turn, start, turn, turn]);
  await recorder.close();
  expect(await stored()).toEqual({
    'anonymous-1': ['turn_started', 'run_ended'],
    'anonymous-2': ['turn_started'],
    'anonymous-3': ['turn_started', 'turn_started'],
  });
});

test('the generated id is random', async () => {
  const sink = new InMemoryTrajectorySink();
  const recorder = new TrajectoryRecorder(sink);
  for (const event of [turn, end]) recorder.onEvent(event);
  await recorder.flush();
  expect((await sink.snapshot())[0]?.run_id).toMatch(/^anonymous-[0-9a-f-]{36}$/);
});

test('beyond the limit held events get a generated id, and the run identified later starts again at seq 0', async () => {
  const { play, records, stored } = setUp({ maxHeld: 2 });
  play([start, turn, turn, turn, identified(root), turn]);
  expect(await stored()).toEqual({
    'anonymous-1': ['turn_started', 'turn_started', 'turn_started', 'run_ended'],
    r1: ['run_started', 'turn_started'],
  });
  expect((await records())[3]?.payload).toMatchObject({ outcome: 'identified', labels: { run_id: 'r1' } });
});

test('a child run inside its parent has its own seq, and the parent continues after it', async () => {
  const { play, records, stored } = setUp();
  play([start, identified(root), turn]);
  play([start, turn, identified(childOf('r1', 'c1')), identified(childOf('c1', 'g1')), end, turn, end]);
  play([turn, end]);
  expect(await stored()).toEqual({
    r1: ['run_started', 'turn_started', 'turn_started', 'run_ended'],
    c1: ['run_started', 'turn_started', 'turn_started', 'run_ended'],
    g1: ['run_started', 'run_ended'],
  });
  const child = (await records()).find((record) => record.run_id === 'c1');
  expect(child).toMatchObject({ parent_run_id: 'r1', depth: 1 });
});

test('a run that is not a child ends the open runs before it', async () => {
  const { play, stored } = setUp();
  play([start, identified(root), turn, start, identified({ runId: 'r2', depth: 0 }), turn, end, turn, end]);
  expect(await stored()).toEqual({
    r1: ['run_started', 'turn_started'],
    r2: ['run_started', 'turn_started', 'run_ended'],
    'anonymous-1': ['turn_started', 'run_ended'],
  });
});

test('concurrent agents are distinguished by their stream', async () => {
  const { play, stored } = setUp();
  const events = (id: string): readonly AgentEvent[] => [start, turn, identified(childOf('r1', id)), turn, end];
  const [left, right] = [events('left'), events('right')];
  for (const [index, event] of left.entries()) {
    play([event], 'a');
    play([right[index] ?? turn], 'b');
  }
  const kinds = ['run_started', 'turn_started', 'turn_started', 'run_ended'];
  expect(await stored()).toEqual({ left: kinds, right: kinds });
});

test('a run that continues later continues its seq', async () => {
  const { play, stored, recorder } = setUp();
  play([start, identified(root), end, start, identified(root), turn]);
  expect(await stored()).toEqual({ r1: ['run_started', 'run_ended', 'run_resumed', 'turn_started'] });
  expect(recorder.health()).toMatchObject({ dropped: 0, faults: 0 });
});

test('an event of an unknown type is recorded, and a fault is in health once per type', async () => {
  const { play, records, recorder } = setUp();
  // JavaScript may emit anything.
  const misspelt = { type: 'turn_strat' } as never;
  play([start, identified(root), misspelt, misspelt, { type: 'agent_edn' } as never]);
  expect((await records()).map(({ payload }) => payload.kind).slice(1)).toEqual(Array(3).fill('unrecognised'));
  expect(recorder.health()).toMatchObject({
    faults: 2,
    input: { unknownTypes: 3 },
    lastFault: expect.stringContaining('agent_edn'),
  });
});

test('a run that is identified again after close continues and does not start twice', async () => {
  const { play, stored, recorder } = setUp();
  play([start, identified(root)]);
  await recorder.close();
  play([identified(root)]);
  expect((await stored())['r1']?.filter((kind) => kind === 'run_started')).toHaveLength(1);
});

test('every event is redacted before it reaches the sink, held or not', async () => {
  const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const withSecret: AgentEvent = { type: 'compaction', trigger: `with ${secret}` };
  const redacting = setUp();
  redacting.play([start, withSecret, identified(root), withSecret]);
  expect(JSON.stringify(await redacting.records())).not.toContain(secret);
  const unredacted = setUp({ redaction: false });
  unredacted.play([start, withSecret, identified(root)]);
  expect(JSON.stringify(await unredacted.records())).toContain(secret);
});

test('a failing redaction rule appears in health', async () => {
  const find = (): never => {
    throw new Error('on purpose');
  };
  const { play, records, recorder } = setUp({ redaction: { rules: [{ name: 'broken', find }] } });
  play([start, identified(root), { type: 'compaction', trigger: 'auto' }]);
  expect(JSON.stringify(await records())).not.toContain('"auto"');
  expect(recorder.health().faults).toBeGreaterThan(0);
  expect(recorder.health().lastFault).toBe('redaction rule broken: on purpose');
});

test('the sink in memory reports its length', async () => {
  const sink = new InMemoryTrajectorySink();
  expect(await sink.isEmpty()).toBe(true);
  const record = { schema_version: 1, seq: 0, run_id: 'a', depth: 0, recorded_at_unix_ms: 5 };
  await sink.record({ ...record, payload: { kind: 'turn_started' } });
  expect(await sink.length()).toBe(1);
  expect(await sink.isEmpty()).toBe(false);
  await sink.flush();
  await sink.close();
  await expect(sink.record({ ...record, payload: { kind: 'turn_started' } })).rejects.toMatchObject({
    code: 'store-closed',
  });
});

test('a sink may have only the function record, which gets one record at a time over all runs', async () => {
  let open = 0;
  const seen: string[] = [];
  const recorder = new TrajectoryRecorder({
    async record({ run_id, seq }: TrajectoryRecord) {
      open += 1;
      await Promise.resolve();
      seen.push(`${open}: ${run_id} ${seq}`);
      open -= 1;
    },
  });
  for (const id of ['a', 'b'])
    for (const event of [identified({ runId: id, depth: 0 }), turn]) recorder.onEvent(event, id);
  expect(await recorder.flush()).toBe('stored');
  expect(seen.toSorted()).toEqual(['1: a 0', '1: a 1', '1: b 0', '1: b 1']);
});

test('a sink may report its failures with the codes of the recorder: trajectory-io is retried, trajectory-rejected is not', async () => {
  let calls = 0;
  const failing = (code: 'trajectory-io' | 'trajectory-rejected'): TrajectoryRecorder =>
    new TrajectoryRecorder(
      sinkOf(() => {
        calls += 1;
        if (calls === 1) throw new CoxswainError(code, 'the disk is away');
      }),
    );
  const io = failing('trajectory-io');
  io.onEvent(identified(root));
  expect(await io.flush()).toBe('stored');
  calls = 0;
  const rejected = failing('trajectory-rejected');
  rejected.onEvent(identified(root));
  expect(await rejected.flush()).toBe('incomplete');
});

test.each([
  [undefined, {}, /^a sink must have the functions/],
  [{ append: () => 0 }, {}, /^a sink must have the functions/],
  [new InMemoryTrajectorySink(), { maxHeld: 0 }, /^maxHeld must be at least 1, got 0$/],
  [new InMemoryTrajectorySink(), { maxHeld: NaN }, /^maxHeld must be at least 1, got NaN$/],
  [new InMemoryTrajectorySink(), { onFailure: 'raise' }, /^onFailure must be drop or throw, got "raise"$/],
  [new InMemoryTrajectorySink(), { overflow: 'x' }, /^overflow must be drop-newest or wait, got "x"$/],
])('a wrong sink or option is refused before the first event: %j %j', (sink, options, message) => {
  expect(() => new TrajectoryRecorder(sink as never, options as never)).toThrow(
    expect.objectContaining({ code: 'invalid-argument', message: expect.stringMatching(message) as string }),
  );
});
