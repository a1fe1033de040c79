import { expect, test } from 'vitest';

import { claudeHooks } from '../src/adapters/claude/claude-hooks.ts';
import { readHookInput } from '../src/adapters/claude/read-hook-input.ts';
import type { ClaudeHookAnswer } from '../src/adapters/claude/sdk-shapes.ts';
import { ClaudeSessions } from '../src/hosts/claude-code/claude-sessions.ts';
import type { TrajectoryPayload } from '../src/core/records/trajectory-record.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';
import type { SteeringOptions } from '../src/core/steering/steering-options.ts';
import { readAll } from './support/script-records.ts';
import { NO_REDACTION } from '../src/core/redact/redactor.ts';

const SESSION = 's1';
const AGENT = { agent_id: 'a1', agent_type: 'reviewer' };
const OTHER = { agent_id: 'a2', agent_type: 'tester' };
const BUDGET = { calls: 50 };

type RawEvent = Readonly<Record<string, unknown>> & { readonly hook_event_name: string };

/** Advice and records of a transport of Claude Code's events. */
interface Transported {
  readonly advice: readonly (readonly [event: string, text: string])[];
  readonly main: readonly unknown[];
  readonly agent: readonly unknown[];
  readonly other: readonly unknown[];
}

const STEERING: SteeringOptions = {
  delivery: 'all',
  cadence: 'per-provider',
  feedback: [
    {
      provider: { name: 'Count', shouldRun: () => true, provide: (at) => ({ summary: `Call ${at.toolCallCount}.` }) },
      trigger: { everyNCalls: 1 },
    },
  ],
  guidance: [
    {
      provider: {
        name: 'Always',
        category: 'test',
        classify: () => ({ relevant: true, confidence: 1, reason: 'always' }),
        provide: ({ decisionPoint }) => ({ key: decisionPoint.replaceAll('_', '-'), content: `At ${decisionPoint}.` }),
      },
    },
  ],
};

function clock() {
  let nowMs = 1_700_000_000_000;
  return { nowMs: () => (nowMs += 2_000) };
}

async function byProcesses(events: readonly RawEvent[], forceTurnAtStop: boolean): Promise<Transported> {
  const store = memoryStore();
  const advice: [string, string][] = [];
  for (const event of events) {
    const sessions = new ClaudeSessions({
      store,
      config: { steering: STEERING, deadlineFrom: 'session', budget: BUDGET },
      forceTurnAtStop,
      projectFolder: '/',
      redactor: NO_REDACTION,
      clock: clock(),
      build: 'test',
    });
    const input = readHookInput({ session_id: SESSION, ...event });
    if (input === undefined) throw new Error('the script has an event that cannot be read');
    const { answer } = await sessions.answer(input, SESSION, { hasBackgroundWork: false });
    const { hookSpecificOutput: output } = answer;
    if (output !== undefined) advice.push([output.hookEventName, output.additionalContext]);
  }
  return { advice, ...(await recorded(store)) };
}

async function byCallbacks(events: readonly RawEvent[], forceTurnAtStop: boolean): Promise<Transported> {
  const store = memoryStore();
  const cox = createCoxswain({ store, ...STEERING });
  const run = cox.startRun({ runId: SESSION, budget: BUDGET });
  const hooks: Readonly<Record<string, ReturnType<typeof claudeHooks>['Stop']>> = claudeHooks(run, { forceTurnAtStop });
  const advice: [string, string][] = [];
  for (const event of events) {
    const hook = hooks[event.hook_event_name]?.[0]?.hooks[0];
    if (hook === undefined) throw new Error(`no hook for ${event.hook_event_name}`);
    const answer: ClaudeHookAnswer = await hook({ session_id: SESSION, ...event }, undefined, {
      signal: new AbortController().signal,
    });
    const { hookSpecificOutput: output } = answer;
    if (output !== undefined) advice.push([output.hookEventName, output.additionalContext]);
  }
  await cox.flush();
  return { advice, ...(await recorded(store)) };
}

async function recorded(store: TrajectoryStore): Promise<Omit<Transported, 'advice'>> {
  const of = async (id: string): Promise<readonly unknown[]> =>
    (await readAll(store, id)).flatMap(({ payload }) => essentials(payload));
  return {
    main: await of(SESSION),
    agent: await of(`${SESSION}/${AGENT.agent_id}`),
    other: await of(`${SESSION}/${OTHER.agent_id}`),
  };
}

/** Of a record, what does not depend on when a transport learns that advice was read, or on how a run begins. */
function essentials(payload: TrajectoryPayload): readonly unknown[] {
  switch (payload.kind) {
    case 'evaluation':
      return [{ kind: payload.kind, point: payload.point, shared: payload.shared_usage }];
    case 'run_started':
      return [{ kind: payload.kind, budget: payload.steering?.budget }];
    case 'child_ended':
    case 'turn_started':
    case 'tool_started':
    case 'tool_ended':
    case 'message_appended':
    case 'compaction':
    case 'run_resumed':
    case 'run_ended':
      return [payload];
    default:
      return [];
  }
}

const call = (id: string, command = 'ls'): object => ({
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: id,
});
const PROMPT: RawEvent = { hook_event_name: 'UserPromptSubmit', prompt: 'Make the tests pass' };
const STOP: RawEvent = { hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: 'Done.' };
const pre = (id: string, more: object = {}): RawEvent => ({ hook_event_name: 'PreToolUse', ...call(id), ...more });
const post = (id: string, more: object = {}): RawEvent => ({
  hook_event_name: 'PostToolUse',
  ...call(id),
  tool_response: { stdout: 'a', stderr: '' },
  duration_ms: 4,
  ...more,
});
const batch = (ids: readonly string[], more: object = {}): RawEvent => ({
  hook_event_name: 'PostToolBatch',
  tool_calls: ids.map((id) => ({ ...call(id), tool_response: 'refused' })),
  ...more,
});

const SCENES: readonly (readonly [scene: string, events: readonly RawEvent[], force?: boolean])[] = [
  [
    'calls in two turns',
    [PROMPT, pre('1'), pre('2'), post('2'), post('1'), batch(['1', '2']), pre('3'), post('3'), STOP],
  ],
  [
    'a compaction, after which no prompt follows',
    [
      PROMPT,
      pre('1'),
      post('1'),
      batch(['1']),
      { hook_event_name: 'PreCompact', trigger: 'auto' },
      { hook_event_name: 'SessionStart', source: 'compact' },
      pre('2'),
      post('2'),
      batch(['2']),
    ],
  ],
  ['a call that was refused', [PROMPT, pre('1'), pre('2'), post('1'), batch(['1', '2']), STOP]],
  ['a hook that is set up twice', [PROMPT, pre('1'), pre('1'), post('1'), post('1'), batch(['1']), STOP]],
  ['a prompt that no user gave', [PROMPT, { ...PROMPT, prompt: 'A task ended', source: 'task' }, STOP]],
  ['a turn that is forced once', [PROMPT, STOP, STOP, PROMPT, STOP], true],
  [
    'a subagent',
    [
      PROMPT,
      pre('1'),
      { hook_event_name: 'SubagentStart', ...AGENT },
      pre('2', AGENT),
      post('2', AGENT),
      batch(['2'], AGENT),
      { ...STOP, hook_event_name: 'SubagentStop', ...AGENT },
      post('1'),
      batch(['1']),
      STOP,
    ],
  ],
  [
    'two subagents at once, one of which goes on after its end',
    [
      PROMPT,
      pre('1'),
      { hook_event_name: 'SubagentStart', ...AGENT },
      { hook_event_name: 'SubagentStart', ...OTHER },
      pre('2', AGENT),
      pre('3', OTHER),
      post('2', AGENT),
      batch(['2'], AGENT),
      { ...STOP, hook_event_name: 'SubagentStop', ...AGENT },
      post('3', OTHER),
      post('1'),
      batch(['1']),
      pre('4', AGENT),
      post('4', AGENT),
      { ...STOP, hook_event_name: 'SubagentStop', ...AGENT },
      { ...STOP, hook_event_name: 'SubagentStop', ...OTHER },
      STOP,
    ],
  ],
  [
    'a subagent whose turn is forced once',
    [
      PROMPT,
      { hook_event_name: 'SubagentStart', ...AGENT },
      { ...STOP, hook_event_name: 'SubagentStop', ...AGENT },
      pre('2', AGENT),
      post('2', AGENT),
      batch(['2'], AGENT),
      { ...STOP, hook_event_name: 'SubagentStop', ...AGENT },
    ],
    true,
  ],
];

test.each(SCENES.map(([scene, events, force = false]) => ({ scene, events, force })))(
  'hook processes and callbacks in a program say and record the same of $scene',
  async ({ events, force }) => {
    const processes = await byProcesses(events, force);
    expect(processes.main.length).toBeGreaterThan(2);
    expect(await byCallbacks(events, force)).toEqual(processes);
  },
);
