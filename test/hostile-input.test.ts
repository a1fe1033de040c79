import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCoxswain, type Coxswain, type CoxswainOptions } from '../src/core/run/coxswain.ts';
import { decodeRecord } from '../src/core/records/decode-record.ts';
import type { AgentEvent } from '../src/core/records/agent-event.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { deadlineFeedback } from '../src/core/steering/feedback/built-in-feedback.ts';
import { TrajectoryRecorder } from '../src/core/recorder/trajectory-recorder.ts';
import type { Run } from '../src/core/run/run.ts';
import { defineEvent } from '../src/core/session/define-event.ts';
import { ToolInvokedEvent } from '../src/core/session/tool-invoked.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';

interface Setup {
  readonly cox: Coxswain;
  readonly run: Run;
  readonly records: () => Promise<readonly TrajectoryRecord[]>;
}

const NOW = 1_700_000_000_000;

function setUp(options: CoxswainOptions = {}): Setup {
  const store = memoryStore();
  const cox = createCoxswain({ store, clock: createFakeClock(NOW), ...options });
  const run = cox.startRun({ runId: 'run', deadline: { minutes: 20 } });
  const records = async (): Promise<readonly TrajectoryRecord[]> => {
    expect(await run.flush()).toBe('stored');
    return Array.fromAsync(store.readRun('run'));
  };
  return { cox, run, records };
}

/** An event that its type does not allow, as a host without types may send it. */
function untyped(event: unknown): AgentEvent {
  return event as AgentEvent;
}

function ended(more: object = {}): AgentEvent {
  return untyped({
    type: 'tool_execution_end',
    toolCallId: 'a',
    toolName: 'bash',
    result: 'x',
    isError: false,
    ...more,
  });
}

test.each([Number.NaN, Infinity, -5, '12', null, new Date(NOW), {}])(
  'a time of %s loses no record of the run',
  async (atMs) => {
    const { cox, run, records } = setUp();
    for (let index = 0; index < 80; index += 1) {
      expect(run.emit(untyped({ type: 'turn_start', ...(index === 40 ? { atMs } : {}) }))).toBe('accepted');
    }
    const turns = (await records()).filter(({ payload }) => payload.kind === 'turn_started');
    expect(turns).toHaveLength(80);
    expect(cox.health().recorder?.dropped).toBe(0);
    expect(cox.health().input ?? { badTimes: 0 }).toEqual({ badTimes: atMs === null ? 0 : 1 });
  },
);

test.each([
  ['seconds', NOW / 1_000],
  ['microseconds', NOW * 1_000],
  ['nanoseconds', NOW * 1_000_000],
  ['the far future', NOW * 3],
])('a time in %s does not tell the agent that its deadline has passed', async (_name, atMs) => {
  const { cox, run, records } = setUp({
    feedback: [{ provider: deadlineFeedback({ warningThresholdSeconds: 120 }), trigger: { everyNCalls: 1 } }],
  });
  run.emit(ended({ atMs }));
  expect(run.feedback() ?? '').not.toMatch(/passed|expired|reached/i);
  expect((await records()).every((record) => record.recorded_at_unix_ms === NOW)).toBe(true);
  expect(Object.keys(cox.health().input ?? {})).toHaveLength(1);
  const notices = (await records()).filter(({ payload }) => payload.kind === 'fault_noticed');
  expect(notices).toHaveLength(1);
  expect(notices[0]?.payload).toMatchObject({ where: 'input' });
});

test('a duration that is no duration is left out, and its result stays', async () => {
  const { cox, run, records } = setUp();
  for (const durationMs of [Number.NaN, -1, Infinity, 12]) run.emit(ended({ durationMs }));
  const results = (await records()).flatMap(({ payload }) => (payload.kind === 'tool_ended' ? [payload] : []));
  expect(results.map((payload) => payload.duration_ms)).toEqual([undefined, undefined, undefined, 12]);
  expect(cox.health().input).toEqual({ badNumbers: 3 });
});

test('a fault of the input is recorded once a run, and counted each time', async () => {
  const { cox, run, records } = setUp();
  for (let index = 0; index < 50; index += 1) run.emit(ended({ durationMs: Number.NaN }));
  const kinds = (await records()).map(({ payload }) => payload.kind);
  expect(kinds.filter((kind) => kind === 'fault_noticed')).toHaveLength(1);
  expect(cox.health().input).toEqual({ badNumbers: 50 });
});

test('a message without content, of an unknown role, or no message at all is recorded', async () => {
  const { run, records } = setUp();
  const messages = [
    { role: 'assistant', content: null },
    { role: 'developer', content: 'hello' },
    { role: 'tool', content: [{ type: 'sound', data: 1 }, 'text', null] },
    null,
    'just text',
  ];
  for (const message of messages) expect(run.emit(untyped({ type: 'message_end', message }))).toBe('accepted');
  const stored = (await records()).flatMap(({ payload }) =>
    payload.kind === 'message_appended' ? [payload.message] : [],
  );
  expect(stored.map(({ role }) => role)).toEqual(['assistant', 'system', 'tool_result', 'system', 'system']);
  expect(stored[4]?.content).toBe('just text');
});

test('an event of an unknown type is kept whole, and a fault is recorded once per type', async () => {
  const { cox, run, records } = setUp();
  for (const type of ['from_later', 'from_later', 'turn_strat']) {
    expect(run.emit(untyped({ type, value: [1] }))).toBe('accepted');
  }
  const payloads = (await records()).slice(1).map(({ payload }) => payload);
  const original = { kind: 'unrecognised_event', event: { type: 'from_later', value: [1] } };
  expect(payloads[0]).toEqual({ kind: 'unrecognised', original });
  const faults = payloads.filter(({ kind }) => kind === 'fault_noticed');
  expect(faults).toEqual(
    ['from_later', 'turn_strat'].map((type) => expect.objectContaining({ message: expect.stringContaining(type) })),
  );
  expect(cox.health().input?.unknownTypes).toBe(3);
});

test.each([
  ['an id of 2,000 characters', 'x'.repeat(2_000)],
  ['empty', ''],
  ['half a surrogate pair', 'a\ud800'],
  ['a number', 7],
])('a run whose id is %s is stored under another one', async (_name, runId) => {
  const store = memoryStore();
  const cox = createCoxswain({ store });
  const run = cox.startRun({ runId: runId as string });
  run.emit({ type: 'turn_start' });
  expect(await run.end()).toEqual({ stored: true, lostRecords: 0 });
  expect(run.id).not.toBe(runId);
  const { runs } = await store.listRuns({});
  expect(runs.map((one) => one.runId)).toEqual([run.id]);
  expect(runs[0]?.records).toBeGreaterThanOrEqual(3);
});

test('dispatch, setDeadline, advise and acknowledge take anything, also after the end', async () => {
  const { cox, run, records } = setUp();
  const hostile: unknown[] = [
    null,
    undefined,
    7,
    'text',
    [],
    Symbol('s'),
    thrower(),
    { atMs: Number.NaN },
    { minutes: -1 },
  ];
  // Each of these is called as a host without types may call it.
  const calls: ((value: never) => unknown)[] = [
    (value) => run.emit(value),
    (value) => run.dispatch(value),
    (value) => run.setDeadline(value),
    (value) => run.advise(value, value),
    (value) => run.advise('post_tool_result', value),
    (value) => run.acknowledge(value),
    (value) => run.reportFault('test', value),
  ];
  const all = (): void => {
    for (const call of calls) for (const value of hostile) expect(() => call(value as never)).not.toThrow();
  };
  all();
  run.emit({ type: 'turn_start' });
  await run.end();
  all();
  const stored = await records();
  expect(stored.filter(({ payload }) => payload.kind === 'turn_started')).toHaveLength(1);
  expect(cox.health().input?.lateEvents).toBeGreaterThan(0);
  expect(cox.health().recorder?.dropped).toBe(0);
});

/** A proxy that throws whatever is asked of it, but for what fast-check wants to know. */
function thrower(): unknown {
  const fail = (): never => {
    throw new Error('hostile');
  };
  return new Proxy(
    {},
    {
      get: (_target, key) => (key === fc.toStringMethod ? (): string => 'thrower' : fail()),
      has: (_target, key) => (typeof key === 'symbol' ? key === fc.toStringMethod : fail()),
      ownKeys: fail,
      getPrototypeOf: fail,
      getOwnPropertyDescriptor: fail,
    },
  );
}

test('setDeadline(null) takes the deadline away, and one that cannot be leaves it', async () => {
  const { run, records } = setUp();
  expect(run.setDeadline({ atMs: Number.NaN })).toBe('dropped');
  expect(run.setDeadline(null as never)).toBe('accepted');
  const inMicroseconds = (NOW + 600_000) * 1_000;
  expect(run.setDeadline({ atMs: inMicroseconds })).toBe('accepted');
  const set = (await records()).flatMap(({ payload }) => (payload.kind === 'deadline_set' ? [payload] : []));
  expect(set.map((payload) => payload.deadline_at_unix_ms)).toEqual([undefined, NOW + 600_000]);
});

test('20,000 events from within a provider neither throw nor are lost silently', async () => {
  const received: string[] = [];
  const { cox, run, records } = setUp({
    feedback: [
      {
        provider: {
          name: 'chatty',
          shouldRun: () => true,
          provide: () => {
            for (let index = 0; index < 20_000; index += 1)
              received.push(run.emit({ type: 'compaction', trigger: `${index}` }));
            return { summary: 'said', severity: 'info' };
          },
        },
        trigger: { everyNCalls: 1 },
      },
    ],
  });
  run.emit(ended());
  expect(run.feedback()).toContain('said');
  const stored = await records();
  const accepted = received.filter((answer) => answer === 'accepted').length;
  expect(received).toHaveLength(20_000);
  expect(stored.filter(({ payload }) => payload.kind === 'compaction')).toHaveLength(accepted);
  expect(accepted).toBeGreaterThanOrEqual(1_000);
  expect(cox.health().input?.crowded).toBe(20_000 - accepted);
  expect(stored.filter(({ payload }) => payload.kind === 'fault_noticed')).toHaveLength(1);
});

test('a subscriber that answers each event with another one ends', async () => {
  const { cox, run, records } = setUp();
  const echo = defineEvent<{ readonly n: number }>('echo');
  run.session.subscribe(ToolInvokedEvent, () => run.dispatch(echo({ n: 0 })));
  run.session.subscribe(echo, ({ data }) => run.dispatch(echo({ n: data.n + 1 })));
  run.emit(ended());
  expect(cox.health().input?.crowded).toBe(1);
  const kinds = (await records()).map(({ payload }) => payload.kind);
  expect(kinds.filter((kind) => kind === 'session_event').length).toBeGreaterThanOrEqual(1_000);
  expect(kinds.filter((kind) => kind === 'fault_noticed')).toHaveLength(1);
});

test('a getter that emits in turn ends', async () => {
  const { run, records } = setUp();
  const trap = {
    get more(): unknown {
      run.emit(ended({ result: trap }));
      return 1;
    },
  };
  expect(run.emit(ended({ result: trap }))).toBe('accepted');
  expect((await records()).filter(({ payload }) => payload.kind === 'tool_ended')).toHaveLength(4);
});

test('what a host changes afterwards changes no record', async () => {
  const { run, records } = setUp();
  const args = { list: [1] };
  run.emit({ type: 'tool_execution_start', toolCallId: 'a', toolName: 'bash', args });
  args.list.push(2);
  expect((await records()).at(-1)?.payload).toMatchObject({ args: { list: [1] } });
});

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
  }),
  fc.constantFrom<unknown>(
    Number.NaN,
    -0,
    Infinity,
    -1,
    1.5,
    2 ** 60,
    10n ** 30n,
    Symbol('s'),
    () => 1,
    '\ud800',
    'x'.repeat(5_000),
    undefined,
    null,
    '',
    new Error('no', { cause: 1n }),
    thrower(),
    [thrower()],
    { a: thrower() },
    new Date(Number.NaN),
  ),
);

const FIELDS = [
  'toolCallId',
  'toolName',
  'args',
  'result',
  'isError',
  'durationMs',
  'resultMissing',
  'atMs',
  'message',
  'messages',
  'toolResults',
  'outcome',
  'success',
  'reward',
  'labels',
  'trigger',
  'met',
  'missing',
  'attempt',
  'gaveUp',
  'iteration',
  'modelId',
  'systemPrompt',
  'tools',
  'plugin',
  'plugins',
  'before',
  'after',
  'allow',
  'chosenPlugin',
  'reason',
  'prevCap',
  'newCap',
  'original',
  'identity',
] as const;

const TYPES = [
  'run_identified',
  'run_resumed',
  'completion_checked',
  'turn_start',
  'turn_end',
  'message_end',
  'tool_execution_start',
  'tool_execution_end',
  'provider_request_prepared',
  'context_transform_applied',
  'tool_gate_applied',
  'tool_gate_conflict_resolved',
  'output_tokens_escalation',
  'compaction',
  'unrecognised',
  'no_such_type',
  'agent_end',
] as const;

const hostileMessage = fc.record(
  {
    role: fc.oneof(fc.constantFrom('system', 'user', 'assistant', 'tool_result'), hostileValue),
    content: hostileValue,
    usage: fc.record({ inputTokens: hostileValue, costUsd: hostileValue }, { requiredKeys: [] }),
    toolCallId: hostileValue,
    stopReason: hostileValue,
  },
  { requiredKeys: [] },
);

const hostileEvent: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...TYPES),
        fc.dictionary(
          fc.constantFrom(...FIELDS),
          fc.oneof(hostileValue, hostileMessage, fc.array(hostileMessage, { maxLength: 3 })),
          { maxKeys: 8 },
        ),
      )
      .map(([type, fields]) => Object.assign({}, fields, { type })),
  },
  { weight: 1, arbitrary: hostileValue },
);

test('whatever is emitted, what is accepted can be read back, what is dropped is counted, and the rest survives', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(hostileEvent, { minLength: 1, maxLength: 6 }), async (events) => {
      const { cox, run, records } = setUp();
      let dropped = 0;
      let turns = 0;
      for (const event of events) {
        // An end, such as one that was generated, would make everything after it late.
        if (run.isEnded) run.emit({ type: 'run_resumed', trigger: 'test' });
        const answer = run.emit(untyped(event));
        if (answer === 'dropped') dropped += 1;
        if (run.isEnded) run.emit({ type: 'run_resumed', trigger: 'test' });
        expect(run.emit({ type: 'turn_start' })).toBe('accepted');
        turns += 1;
      }
      const stored = await records();
      const { input = {}, recorder } = cox.health();
      expect(recorder?.dropped).toBe(0);
      expect(input.refused ?? 0).toBe(dropped);
      for (const record of stored)
        expect(
          decodeRecord(
            JSON.parse(
              JSON.stringify(
                record.payload.kind === 'unrecognised' ? { ...record, payload: record.payload.original } : record,
              ),
            ),
          ),
        ).toEqual(record);
      expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index));
      expect(stored.filter(({ payload }) => payload.kind === 'turn_started').length).toBeGreaterThanOrEqual(turns);
    }),
    { numRuns: 300 },
  );
});

test('a recorder of events without runs takes anything too', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(hostileEvent, { minLength: 1, maxLength: 6 }), async (events) => {
      const recorder = new TrajectoryRecorder(memoryStore());
      for (const event of events) expect(() => recorder.onEvent(untyped(event))).not.toThrow();
      expect(await recorder.close()).toBe('stored');
    }),
    { numRuns: 100 },
  );
});

test('no more of a result of 100 MB is looked at than is kept', async () => {
  const { run, records } = setUp();
  const size = 100_000_000;
  expect(run.emit(ended({ result: 'a line of a log\n'.repeat(size / 16) }))).toBe('accepted');
  const record = (await records()).at(-1);
  if (record?.payload.kind !== 'tool_ended') throw new Error('it is stored as what it is not');
  const { result } = record.payload;
  if (typeof result !== 'string') throw new Error('the result is no text');
  expect(result.length).toBeLessThanOrEqual(1_048_576);
  expect(result).toContain(`of ${size} characters left out`);
});
