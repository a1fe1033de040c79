import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { type DerivedPayload, isDerived } from '../src/core/records/derived-payload.ts';
import { DECISION_POINTS, type DecisionPoint } from '../src/core/records/spoken-advice.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { importSource } from '../src/formats/import-source.ts';
import { readRuns } from '../src/formats/read-runs.ts';
import { Replay } from '../src/core/replay/replay.ts';
import type { Run } from '../src/core/run/run.ts';
import {
  doomLoopGuidance,
  consultationPrompt,
  diagnosticSignal,
} from '../src/core/steering/guidance/built-in-guidance.ts';
import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { thorough } from './support/rounds.ts';
import { sharedPath } from './support/shared-data.ts';

/** A host's next action, as data. */
type Action =
  | {
      readonly type: 'call';
      readonly tool: string;
      readonly args: unknown;
      readonly result: unknown;
      readonly fails: boolean;
    }
  | { readonly type: 'advise'; readonly point: DecisionPoint }
  | { readonly type: 'wait'; readonly seconds: number }
  | { readonly type: 'say'; readonly role: 'user' | 'assistant'; readonly tokens: number }
  | { readonly type: 'compact' };

const steering = {
  ...standardSteering(),
  guidance: [doomLoopGuidance(), diagnosticSignal(), consultationPrompt()].map((provider) => ({ provider })),
};

const actions = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        type: fc.constant('call' as const),
        tool: fc.constantFrom('bash', 'read_file', 'edit_file', 'get_status'),
        args: fc.constantFrom<unknown>(
          { command: 'make' },
          { path: 'a' },
          { path: 'a', old: 'x', new: 'y' },
          {},
          null,
          'text',
        ),
        result: fc.constantFrom<unknown>('same', 'Error: no', '', { ok: true, at: new Date(5) }, ['a', undefined], 7),
        fails: fc.boolean(),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ type: fc.constant('advise' as const), point: fc.constantFrom(...DECISION_POINTS) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ type: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 200 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('say' as const),
        role: fc.constantFrom('user' as const, 'assistant' as const),
        tokens: fc.integer({ min: 0, max: 20_000 }),
      }),
    },
    { weight: 1, arbitrary: fc.constant<Action>({ type: 'compact' }) },
  ),
  { minLength: 30, maxLength: 80 },
);

function act(run: Run, action: Action, id: number): void {
  const toolCallId = `call-${id}`;
  switch (action.type) {
    case 'call':
      if (id % 3 !== 0) run.emit({ type: 'turn_start' });
      run.emit({ type: 'tool_execution_start', toolCallId, toolName: action.tool, args: action.args });
      run.emit({
        type: 'tool_execution_end',
        toolCallId,
        toolName: action.tool,
        result: action.result,
        isError: action.fails,
      });
      return;
    case 'advise':
      for (const [at, advice] of run.advise(action.point).entries()) {
        if (at % 2 === 0) advice.delivered('test');
        else advice.undelivered('no room');
      }
      return;
    case 'say':
      run.emit({
        type: 'message_end',
        message:
          action.role === 'user'
            ? { role: 'user', content: 'go on' }
            : {
                role: 'assistant',
                content: 'thinking',
                usage: { inputTokens: action.tokens, costUsd: action.tokens / 1e5 },
              },
      });
      return;
    case 'compact':
      run.emit({ type: 'compaction', trigger: 'auto' });
      return;
    default:
  }
}

async function live(script: readonly Action[]): Promise<TrajectoryRecord[]> {
  const store = memoryStore();
  const clock = createFakeClock();
  const cox = createCoxswain({ ...steering, clock, store });
  const run = cox.startRun({
    runId: 'run',
    deadline: { minutes: 10 },
    budget: { calls: 40, tokens: 100_000, costUsd: 2 },
  });
  for (const [id, action] of script.entries()) {
    if (action.type === 'wait') clock.advance(action.seconds);
    else act(run, action, id);
  }
  await run.end();
  return Array.fromAsync(store.readRun('run'));
}

function replayed(records: readonly TrajectoryRecord[]): DerivedPayload[] {
  const replay = new Replay({ steering });
  return records.flatMap((record) => replay.take(record));
}

test('a replay of any recorded run gives its derived records again, in order', async () => {
  let derivedInAll = 0;
  await fc.assert(
    fc.asyncProperty(actions, async (script) => {
      const records = await live(script);
      const derived = records.map((record) => record.payload).filter(isDerived);
      derivedInAll += derived.length;
      expect(replayed(records)).toEqual(derived);
    }),
    { numRuns: 200 },
  );
  // The property would hold for runs without any advice.
  expect(derivedInAll).toBeGreaterThan(500);
});

test('another steering gives another replay', async () => {
  const call: Action = { type: 'call', tool: 'bash', args: {}, result: 'same', fails: false };
  const records = await live(
    Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? call : { type: 'advise', point: 'post_tool_result' })),
  );
  const silent = new Replay({ steering: { feedback: [], guidance: [] } });
  const kinds = records.flatMap((record) => silent.take(record)).map((payload) => payload.kind);
  expect(kinds).toContain('pattern_flagged');
  expect(kinds).not.toContain('feedback_produced');
  expect(replayed(records).map((payload) => payload.kind)).toContain('feedback_produced');
});

const corpora = [
  'intercode_sql',
  'intercode_bash',
  'intercode_ctf',
  'intercode_python',
  'sweagent_demos',
  'openhands_examples',
];

test.skipIf(sharedPath('trajectories') === undefined).each(corpora)(
  `live equals replay over ${thorough ? 'every run' : 'every hundredth run'} of %s (needs ../shared)`,
  async (corpus) => {
    const path = sharedPath('trajectories', `${corpus}.jsonl.gz`) ?? '';
    let runs = 0;
    let records: TrajectoryRecord[] = [];
    for await (const item of readRuns(importSource(path), { source: path })) {
      if (item.type === 'record') records.push(item.record);
      if (item.type !== 'end') continue;
      runs += 1;
      // `npm test` replays every hundredth run, `npm run test:faults` all.
      if (!thorough && runs % 100 !== 1) {
        records = [];
        continue;
      }
      const recorded = await steered(records);
      expect(replayed(recorded)).toEqual(recorded.map((record) => record.payload).filter(isDerived));
      records = [];
    }
    expect(runs).toBeGreaterThan(0);
  },
);

/** The run as it would have been recorded live: its inputs with an evaluation after each tool result. */
async function steered(imported: readonly TrajectoryRecord[]): Promise<TrajectoryRecord[]> {
  const store = memoryStore();
  const clock = createFakeClock();
  const run = createCoxswain({ ...steering, clock, store }).startRun({ runId: 'run', deadline: { minutes: 30 } });
  for (const { payload } of imported) {
    clock.advance(1);
    if (payload.kind === 'turn_started') run.emit({ type: 'turn_start' });
    if (payload.kind === 'tool_started') {
      const { tool_call_id: toolCallId, tool_name: toolName, args } = payload;
      run.emit({ type: 'tool_execution_start', toolCallId, toolName, args });
    }
    if (payload.kind === 'tool_ended') {
      const { tool_call_id: toolCallId, tool_name: toolName, result, is_error: isError } = payload;
      run.emit({ type: 'tool_execution_end', toolCallId, toolName, result, isError });
      run.feedback();
    }
  }
  await run.end();
  return Array.fromAsync(store.readRun('run'));
}
