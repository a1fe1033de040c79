import { expect, test } from 'vitest';

import { readHookInput } from '../src/adapters/claude/read-hook-input.ts';
import { ClaudeSessions, type ClaudeSessionsOptions } from '../src/hosts/claude-code/claude-sessions.ts';
import { isDerived } from '../src/core/records/derived-payload.ts';
import type { TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { Replay } from '../src/core/replay/replay.ts';
import type { SteeringOptions } from '../src/core/steering/steering-options.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import type { TrajectoryStore } from '../src/core/store/trajectory-store.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { readAll } from './support/script-records.ts';
import { payloadsOf } from './support/adapter-contract/adapter-player.ts';
import { NO_REDACTION } from '../src/core/redact/redactor.ts';

type RawEvent = Readonly<Record<string, unknown>>;

const [ONE, OTHER] = ['a1', 'a2'].map((agent_id) => ({ agent_id, agent_type: 'digger' }));
const PROMPT = { hook_event_name: 'UserPromptSubmit', prompt: 'Dig.' };
/** Says after each call what was used of the budget. */
const STEERING: SteeringOptions = {
  feedback: [
    {
      provider: {
        name: 'Used',
        shouldRun: () => true,
        provide: ({ budget, usage }) => ({ summary: `${usage?.calls} of ${budget?.calls} calls` }),
      },
      trigger: { everyNCalls: 1 },
    },
  ],
  guidance: [],
};

const start = (agent: object | undefined): RawEvent => ({ hook_event_name: 'SubagentStart', ...agent });
const stop = (agent: object | undefined): RawEvent => ({ hook_event_name: 'SubagentStop', ...agent });

function call(tool_use_id: string, agent?: object): readonly RawEvent[] {
  const about = { tool_name: 'Bash', tool_input: { command: `dig ${tool_use_id}` }, tool_use_id, ...agent };
  return [
    { hook_event_name: 'PreToolUse', ...about },
    { hook_event_name: 'PostToolUse', ...about, tool_response: { stdout: `earth ${tool_use_id}`, stderr: '' } },
    { hook_event_name: 'PostToolBatch', tool_calls: [], ...agent },
  ];
}

function sessionsOf(store: TrajectoryStore, options: Pick<ClaudeSessionsOptions, 'config' | 'clock'>): ClaudeSessions {
  return new ClaudeSessions({
    store,
    projectFolder: '/',
    redactor: NO_REDACTION,
    build: 'test',
    ...options,
  });
}

type Way = 'in time' | 'late';

/** Takes the events one by one. @returns the records of the session and of its subagents */
async function play(events: readonly RawEvent[], way: Way): Promise<ReadonlyMap<string, readonly TrajectoryRecord[]>> {
  const store = memoryStore();
  const config = { steering: STEERING, deadlineFrom: 'session', budget: { calls: 12 } } as const;
  for (const [index, event] of events.entries()) {
    const sessions = sessionsOf(store, { config, clock: createFakeClock() });
    const input = readHookInput({ session_id: 's', ...event });
    if (input === undefined) throw new Error('the script has an event that cannot be read');
    if (way === 'late') {
      const late = { id: `late-${index}`, arrivedAtMs: createFakeClock().nowMs(), isWaiting: () => true };
      // The second time is after a crash: the event is taken and its file is still there.
      for (let time = 0; time < 2; time += 1) await sessions.foldLate(input, 's', late);
    } else await sessions.answer(input, 's', { hasBackgroundWork: false });
  }
  const ids = ['s', 's/a1', 's/a2'];
  return new Map(await Promise.all(ids.map(async (id) => [id, await readAll(store, id)] as const)));
}

/** All but whether the event came late, and what became of the advice. */
function withoutDelivery(records: readonly TrajectoryRecord[] = []): readonly unknown[] {
  return records.map(({ payload, seq }) => [seq, payload.kind === 'feedback_delivered' ? payload.kind : payload]);
}

test('subagents use the budget of their session by either transport, and a replay gives the same advice', async () => {
  const events = [
    PROMPT,
    ...call('m1'),
    start(ONE),
    start(OTHER),
    ...call('x1', ONE),
    ...call('y1', OTHER),
    ...call('x2', ONE),
    stop(ONE),
    ...call('y2', OTHER),
    ...call('m2'),
    stop(OTHER),
    ...call('m3'),
  ];
  const runs = await play(events, 'in time');
  const advice = [...runs.values()].map((records) =>
    payloadsOf(records, 'feedback_produced').map(({ text }) => text.match(/\d+ of \d+/)?.[0]),
  );
  expect(advice).toEqual([
    ['1 of 12', '6 of 12', '7 of 12'],
    ['2 of 12', '4 of 12'],
    ['3 of 12', '5 of 12'],
  ]);
  expect(payloadsOf(runs.get('s') ?? [], 'child_ended')).toEqual([
    { kind: 'child_ended', child_run_id: 's/a1', usage: { calls: 2 } },
    { kind: 'child_ended', child_run_id: 's/a2', usage: { calls: 2 } },
  ]);
  for (const records of runs.values()) {
    const replay = new Replay({ steering: STEERING });
    const derived = records.map(({ payload }) => payload).filter(isDerived);
    expect(records.flatMap((record) => replay.take(record))).toEqual(derived);
  }
  const others = await play(events, 'late');
  for (const [id, records] of runs) expect(withoutDelivery(others.get(id))).toEqual(withoutDelivery(records));
});

test('a subagent in the background follows the new deadline of its session', async () => {
  const store = memoryStore();
  const clock = createFakeClock();
  const config = { steering: STEERING, deadline: { minutes: 10 }, deadlineFrom: 'prompt' } as const;
  const take = async (events: readonly RawEvent[]): Promise<void> => {
    for (const event of events) {
      const input = readHookInput({ session_id: 's', ...event });
      if (input === undefined) throw new Error('the script has an event that cannot be read');
      await sessionsOf(store, { config, clock }).answer(input, 's', { hasBackgroundWork: false });
    }
  };
  await take([PROMPT, start(ONE)]);
  clock.advance(300);
  await take([PROMPT, ...call('x1', ONE)]);
  const child = await readAll(store, 's/a1');
  expect(payloadsOf(child, 'deadline_set')).toEqual([
    { kind: 'deadline_set', deadline_at_unix_ms: clock.nowMs() + 600_000 },
  ]);
});
