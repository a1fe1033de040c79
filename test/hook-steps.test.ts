import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { readHookInput } from '../src/adapters/claude/read-hook-input.ts';
import type { Clock } from '../src/core/base/clock.ts';
import { ClaudeSessions } from '../src/hosts/claude-code/claude-sessions.ts';
import { foldClaudeState, NEW_CLAUDE_STATE } from '../src/hosts/claude-code/claude-state.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { isDerived } from '../src/core/records/derived-payload.ts';
import { Replay } from '../src/core/replay/replay.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { NO_REDACTION } from '../src/core/redact/redactor.ts';

const SESSION = 's1';

type RawEvent = Readonly<Record<string, unknown>>;

/** One turn: a tool, what it is asked, and how it answers. */
interface ScriptedTurn {
  readonly tool: 'Bash' | 'Read' | 'Edit';
  readonly about: number;
  readonly answer: number;
  readonly failed: boolean;
}

const scriptedTurn: fc.Arbitrary<ScriptedTurn> = fc.record({
  tool: fc.constantFrom('Bash', 'Read', 'Edit'),
  about: fc.integer({ min: 0, max: 2 }),
  answer: fc.integer({ min: 0, max: 1 }),
  failed: fc.boolean(),
});

function eventsOf(turns: readonly ScriptedTurn[]): readonly RawEvent[] {
  const calls = turns.flatMap(({ tool, about, answer, failed }, index) => {
    const call = { tool_name: tool, tool_input: inputOf(tool, about), tool_use_id: `c${index}` };
    const text = `answer ${answer}`;
    const end = failed
      ? { hook_event_name: 'PostToolUseFailure', ...call, error: `Error: ${text}` }
      : { hook_event_name: 'PostToolUse', ...call, tool_response: { stdout: text, stderr: '' } };
    return [
      { hook_event_name: 'PreToolUse', ...call },
      end,
      { hook_event_name: 'PostToolBatch', tool_calls: [{ ...call, tool_response: text }] },
    ];
  });
  return [
    { hook_event_name: 'UserPromptSubmit', prompt: 'Make the tests pass' },
    ...calls,
    { hook_event_name: 'PreCompact', trigger: 'auto' },
    { hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: 'Done' },
    { hook_event_name: 'SessionEnd', reason: 'other' },
  ];
}

function inputOf(tool: string, about: number): object {
  if (tool === 'Bash') return { command: `npm test -- part-${about}` };
  if (tool === 'Read') return { file_path: `src/${about}.ts` };
  return { file_path: `src/${about}.ts`, old_string: `a${about}`, new_string: `b${about}` };
}

interface Stepped {
  readonly advice: readonly string[];
  readonly records: readonly TrajectoryRecord[];
  readonly snapshot: unknown;
}

interface Setting {
  readonly store?: TrajectoryStore;
  readonly build?: string;
  readonly clock?: Clock;
}

function newClock(): Clock {
  let nowMs = 1_700_000_000_000;
  return { nowMs: () => (nowMs += 2_000) };
}

/** Takes each event in a separate step, like a process. */
async function step(events: readonly RawEvent[], setting: Setting = {}): Promise<Stepped> {
  const { store = memoryStore(), build = 'test', clock = newClock() } = setting;
  const advice: string[] = [];
  for (const event of events) {
    const sessions = new ClaudeSessions({
      store,
      config: { steering: standardSteering(), deadline: { minutes: 3 }, deadlineFrom: 'session' },
      projectFolder: '/',
      redactor: NO_REDACTION,
      clock,
      build,
      // A loaded machine must not exceed the time limit of providers.
      measureMs: () => 0,
    });
    const input = readHookInput({ session_id: SESSION, ...event });
    if (input === undefined) throw new Error('the script has an event that cannot be read');
    const { answer, faults } = await sessions.answer(input, SESSION, { hasBackgroundWork: false });
    expect(faults.filter((fault) => !fault.includes('rebuilt'))).toEqual([]);
    if (answer.hookSpecificOutput !== undefined) advice.push(answer.hookSpecificOutput.additionalContext);
  }
  const records = await Array.fromAsync(store.readRun(SESSION));
  const snapshot = await store.transact(SESSION, (view) => ({ records: [], result: view.snapshot }));
  return { advice, records, snapshot };
}

test('a run in separate steps gives the advice of a replay, with compact and with full memory', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(scriptedTurn, { minLength: 5, maxLength: 60 }), async (turns) => {
      const { records } = await step(eventsOf(turns));
      for (const retain of ['compact', 'full'] as const) expect(replayed(records, retain)).toEqual(derivedOf(records));
    }),
    { numRuns: 15 },
  );
});

test('records of other processes since the last snapshot count for subagents', async () => {
  const store = memoryStore();
  const clock = newClock();
  const { records } = await step([{ hook_event_name: 'UserPromptSubmit', prompt: 'Do it' }], { store, clock });
  const [first] = records;
  if (first === undefined) throw new Error('the run has not begun');
  const deadline_at_unix_ms = 1_900_000_000_000;
  const payload = { kind: 'deadline_set', deadline_at_unix_ms } as const;
  await store.append([{ ...first, seq: records.length, recorded_at_unix_ms: clock.nowMs(), payload }]);
  const call = { tool_name: 'Bash', tool_input: {}, tool_use_id: 'c1' };
  await step([{ hook_event_name: 'PreToolUse', agent_id: 'a1', agent_type: 'helper', ...call }], { store, clock });
  const child = await Array.fromAsync(store.readRun(`${SESSION}/a1`));
  expect(child[0]?.payload).toMatchObject({ steering: { deadline_at_unix_ms } });
});

test('an unusable state is rebuilt from the records, and nothing else changes', async () => {
  const loop = Array.from({ length: 12 }, (): ScriptedTurn => ({ tool: 'Bash', about: 1, answer: 1, failed: true }));
  const events = eventsOf(loop);
  const whole = await step(events);
  expect(whole.advice.length).toBeGreaterThan(0);

  const store = memoryStore();
  const clock = newClock();
  const half = Math.floor(events.length / 2);
  const first = await step(events.slice(0, half), { store, clock, build: 'an earlier build' });
  const rest = await step(events.slice(half), { store, clock, build: 'this build' });
  const kinds = ({ records }: Stepped): readonly string[] => records.map(({ payload }) => payload.kind);
  expect(kinds(rest)).toEqual(kinds(whole));
  expect(first.advice.length + rest.advice.length).toBe(whole.advice.length);
});

test('times never run backwards, even if the clock of the next process does', async () => {
  const store = memoryStore();
  const [prompt = {}, ...calls] = eventsOf([{ tool: 'Read', about: 0, answer: 0, failed: false }]);
  await step([prompt, ...calls], { store });
  // The clock starts again.
  const { records } = await step([{ ...prompt }], { store });
  const times = records.map(({ recorded_at_unix_ms }) => recorded_at_unix_ms);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
});

test('the state of a session follows from its records', async () => {
  const { records, snapshot } = await step(eventsOf([{ tool: 'Bash', about: 0, answer: 0, failed: false }]));
  const folded = records.reduce(foldClaudeState, NEW_CLAUDE_STATE);
  expect((snapshot as { readonly host?: unknown } | undefined)?.host).toEqual(JSON.parse(JSON.stringify(folded)));
  expect(folded).toMatchObject({ turnOpen: false, openCalls: [], deadlineSet: true });
});

test('the state of a long run stays small', async () => {
  const turns = Array.from({ length: 300 }, (_, index): ScriptedTurn => {
    const tool = (['Bash', 'Read', 'Edit'] as const)[index % 3] ?? 'Bash';
    return { tool, about: index, answer: index % 17, failed: index % 5 === 0 };
  });
  const { snapshot } = await step(eventsOf(turns));
  expect(JSON.stringify(snapshot).length).toBeLessThan(80_000);
});

test('late events, in any order and repeated, give the same session as events in time, and the advice of its replay', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(scriptedTurn, { maxLength: 8 }),
      fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 12 }),
      async (turns, folds) => {
        const events = eventsOf(turns);
        const startMs = 1_700_000_000_000;
        const inTime = await step(events, { clock: { nowMs: () => startMs } });
        const store = memoryStore();
        for (const [index, event] of events.entries()) {
          // 0: in time; else late, and found again so often less one, as after a crash.
          const times = folds[index % folds.length] ?? 0;
          if (times === 0) {
            await step([event], { store, clock: { nowMs: () => startMs } });
            continue;
          }
          const sessions = new ClaudeSessions({
            store,
            config: { steering: standardSteering(), deadline: { minutes: 3 }, deadlineFrom: 'session' },
            projectFolder: '/',
            redactor: NO_REDACTION,
            // The records must not get the time of the fold.
            clock: { nowMs: () => startMs + 3_600_000 },
            build: 'test',
          });
          const input = readHookInput({ session_id: SESSION, ...event });
          if (input === undefined) throw new Error('the script has an event that cannot be read');
          const late = { id: `late-${index}`, arrivedAtMs: startMs, isWaiting: () => true };
          for (let time = 0; time < times; time += 1) expect(await sessions.foldLate(input, SESSION, late)).toEqual([]);
        }
        const records = await Array.fromAsync(store.readRun(SESSION));
        expect(saidBy(records)).toEqual(saidBy(inTime.records));
        expect(replayed(records, 'compact')).toEqual(derivedOf(records));
      },
    ),
    { numRuns: 40, examples: [[Array.from({ length: 6 }, () => LOOP), [1]]] },
  );
});

const LOOP: ScriptedTurn = { tool: 'Bash', about: 0, answer: 0, failed: true };

/**
 * What was recorded of the session itself. Advice that came too late is not delivered, so it spends no limit, and later advice that was
 * held back in time is given.
 */
function saidBy(records: readonly TrajectoryRecord[]): readonly unknown[] {
  return records
    .filter(({ payload }) => !isDerived(payload) && !/^(?:feedback|guidance)_delivered$/.test(payload.kind))
    .map(({ payload, recorded_at_unix_ms }) => ({ payload, recorded_at_unix_ms }));
}

/** The advice that a replay of the records makes. */
function replayed(records: readonly TrajectoryRecord[], retain: 'compact' | 'full'): readonly unknown[] {
  const replay = new Replay({ steering: { ...standardSteering(), retain } });
  return records.flatMap((record) => replay.take(record));
}

function derivedOf(records: readonly TrajectoryRecord[]): readonly unknown[] {
  return records.flatMap(({ payload }) => (isDerived(payload) ? [payload] : []));
}

test('an invalid number in an event is dropped and logged', async () => {
  const store = memoryStore();
  const sessions = new ClaudeSessions({
    store,
    config: { steering: standardSteering(), deadline: { minutes: 3 }, deadlineFrom: 'session' },
    projectFolder: '/',
    redactor: NO_REDACTION,
    clock: newClock(),
    build: 'test',
  });
  const call = { session_id: SESSION, tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: 'c1' };
  const input = readHookInput({ ...call, hook_event_name: 'PostToolUse', tool_response: 'done', duration_ms: -5 });
  if (input === undefined) throw new Error('the event cannot be read');
  const { faults } = await sessions.answer(input, SESSION, { hasBackgroundWork: false });
  expect(faults).toEqual([expect.stringContaining('input: badNumbers: duration_ms is -5')]);
  const kinds: string[] = [];
  for await (const { payload } of store.readRun(SESSION)) kinds.push(payload.kind);
  expect(kinds).toContain('tool_ended');
  expect(kinds).toContain('fault_noticed');
});
