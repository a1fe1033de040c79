import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { readHookInput } from '../src/adapters/claude-agent-sdk/read-hook-input.ts';
import type { Clock } from '../src/base/clock.ts';
import { ClaudeSessions } from '../src/claude-code/claude-sessions.ts';
import { foldClaudeState, NEW_CLAUDE_STATE } from '../src/claude-code/claude-state.ts';
import type { TrajectoryRecord } from '../src/events/trajectory-record.ts';
import { isDerived, Replay } from '../src/replay.ts';
import { memoryStore } from '../src/store/memory-store.ts';
import type { TrajectoryStore } from '../src/store/trajectory-store.ts';
import { standardSteering } from '../src/standard-steering.ts';

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
  readonly said: readonly string[];
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

/** Takes each event in a step of its own, as processes do. */
async function step(events: readonly RawEvent[], setting: Setting = {}): Promise<Stepped> {
  const { store = memoryStore(), build = 'test', clock = newClock() } = setting;
  const said: string[] = [];
  for (const event of events) {
    const sessions = new ClaudeSessions({
      store,
      config: { steering: standardSteering(), deadline: { minutes: 3 }, deadlineFrom: 'session' },
      projectFolder: '/',
      redact: (payload) => payload,
      clock,
      build,
    });
    const input = readHookInput({ session_id: SESSION, ...event });
    if (input === undefined) throw new Error('the script has an event that cannot be read');
    const { answer, faults } = await sessions.answer(input, SESSION, { hasBackgroundWork: false });
    expect(faults.filter((fault) => !fault.includes('made anew'))).toEqual([]);
    if (answer.hookSpecificOutput !== undefined) said.push(answer.hookSpecificOutput.additionalContext);
  }
  const records: TrajectoryRecord[] = [];
  for await (const record of store.readRun(SESSION)) records.push(record);
  const snapshot = await store.transact(SESSION, (view) => ({ records: [], result: view.snapshot }));
  return { said, records, snapshot };
}

test('a run that is taken step by step says what one that is never put aside says, with little and with much kept', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(scriptedTurn, { minLength: 5, maxLength: 60 }), async (turns) => {
      const { records } = await step(eventsOf(turns));
      for (const retain of ['compact', 'full'] as const) {
        const replay = new Replay({ steering: { ...standardSteering(), retain } });
        const derived = records.flatMap((record) => replay.take(record));
        expect(derived).toEqual(records.flatMap(({ payload }) => (isDerived(payload) ? [payload] : [])));
      }
    }),
    { numRuns: 15 },
  );
});

test('a state that cannot be used is made anew from the records, and nothing else changes', async () => {
  const loop = Array.from({ length: 12 }, (): ScriptedTurn => ({ tool: 'Bash', about: 1, answer: 1, failed: true }));
  const events = eventsOf(loop);
  const whole = await step(events);
  expect(whole.said.length).toBeGreaterThan(0);

  const store = memoryStore();
  const clock = newClock();
  const half = Math.floor(events.length / 2);
  const first = await step(events.slice(0, half), { store, clock, build: 'an earlier build' });
  const rest = await step(events.slice(half), { store, clock, build: 'this build' });
  const kinds = ({ records }: Stepped): readonly string[] => records.map(({ payload }) => payload.kind);
  expect(kinds(rest)).toEqual(kinds(whole));
  expect(first.said.length + rest.said.length).toBe(whole.said.length);
});

test('times never run backwards, whatever the clock of the next process says', async () => {
  const store = memoryStore();
  const [prompt = {}, ...calls] = eventsOf([{ tool: 'Read', about: 0, answer: 0, failed: false }]);
  await step([prompt, ...calls], { store });
  // The clock begins anew.
  const { records } = await step([{ ...prompt }], { store });
  const times = records.map(({ recorded_at_unix_ms }) => recorded_at_unix_ms);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
});

test('what is remembered of a session follows from its records', async () => {
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
