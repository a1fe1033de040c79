import { expect, test } from 'vitest';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { alertOf } from '../src/core/facts/run-alert.ts';
import { RunView } from '../src/core/facts/run-view.ts';
import type { TrajectoryPayload } from '../src/core/records/trajectory-record.ts';
import { scriptRun } from './support/script-records.ts';

const MINUTE_MS = 60_000;
const START_MS = 1_800_000_000_000;

/** The alert `minutes` after the last of these records. */
function alertAfter(
  minutes: number,
  payloads: readonly TrajectoryPayload[],
  more: { readonly activeMinutesAgo?: number; readonly hostWaitsFor?: string } = {},
): string | undefined {
  const view = new RunView();
  const begin: TrajectoryPayload = { kind: 'run_started', identity: { run_id: 'r', depth: 0 }, task: 'Fix it' };
  for (const record of scriptRun('r', [begin, ...payloads])) view.fold({ ...record, recorded_at_unix_ms: START_MS });
  const nowMs = START_MS + minutes * MINUTE_MS;
  const { activeMinutesAgo, hostWaitsFor } = more;
  const activeAtMs = activeMinutesAgo === undefined ? 0 : nowMs - activeMinutesAgo * MINUTE_MS;
  return alertOf(view, { nowMs, activeAtMs, hostWaitsFor })?.text;
}

function running(command: string): readonly TrajectoryPayload[] {
  return [{ kind: 'tool_started', tool_call_id: 'c', tool_name: 'Bash', args: { command } }];
}

const answered = (text: string): TrajectoryPayload => ({
  kind: 'message_appended',
  message: { role: 'assistant', content: text, stop_reason: 'end_turn' },
});

test('an open call without a record for ten minutes is told, with its command', () => {
  expect(alertAfter(9, running('git push'))).toBeUndefined();
  expect(alertAfter(10, running('git push'))).toBe(
    'has had no record for 10 minutes: "git push" has no result; it hangs, waits for a permission, or its program has ended',
  );
});

test('a call that is known to take long has half an hour', () => {
  const commands = ['npm test', 'mise run test:ci', 'cargo build', 'sleep 900 && ls', 'tail -f log'];
  expect(commands.flatMap((command) => alertAfter(29, running(command)) ?? [])).toEqual([]);
  expect(commands.map((command) => alertAfter(30, running(command)))).toEqual(
    commands.map(
      (command) =>
        `has had no record for 30 minutes: "${command}" has no result; it runs, hangs, waits for a permission, or its program has ended`,
    ),
  );
});

test('a file that grows, a child run at work and a machine that slept are no silence', () => {
  expect(alertAfter(40, running('git push'), { activeMinutesAgo: 3 })).toBeUndefined();
  expect(alertAfter(40, running('git push'), { activeMinutesAgo: 12 })).toMatch(/^has had no record for 12 minutes/);
});

test('a command to the program itself gives the agent no work, before its first task and after its answer', () => {
  const said = (content: string): TrajectoryPayload => ({
    kind: 'message_appended',
    message: { role: 'user', content },
  });
  const echo = said('<command-name>/model</command-name>');
  const quits = [
    said('<bash-input>git status</bash-input>'),
    said('<local-command-stdout>Bye!</local-command-stdout>'),
  ];
  expect(alertAfter(700, [echo])).toBeUndefined();
  expect(alertAfter(700, [said('Go.'), answered('Done.'), ...quits])).toBeUndefined();
  expect(alertAfter(11, [echo, said('Go.')])).toMatch(/its model has not answered$/);
  expect(alertAfter(11, [...running('git push'), ...quits])).toMatch(/"git push" has no result/);
});

test('requests that are made again and again are no sign of life', () => {
  const failed: TrajectoryPayload = {
    kind: 'session_event',
    event_type: 'request_retried',
    data: { attempt: 1, error: 'Request timed out.' },
  };
  const at = { activeMinutesAgo: 1 };
  expect(alertAfter(9, [failed, failed], at)).toBeUndefined();
  expect(alertAfter(12, [failed, failed], at)).toBe(
    'has had no answer for 12 minutes, after 2 failed requests (Request timed out.)',
  );
  expect(alertAfter(12, [failed, answered('Done.')], at)).toBeUndefined();
  // The silence began before the first request that failed.
  const view = new RunView();
  const begin: TrajectoryPayload = { kind: 'run_started', identity: { run_id: 'r', depth: 0 }, task: 'Fix it' };
  const minutes = [0, 6];
  for (const [index, record] of scriptRun('r', [begin, failed]).entries())
    view.fold({ ...record, recorded_at_unix_ms: START_MS + (minutes[index] ?? 0) * MINUTE_MS });
  expect(alertOf(view, { nowMs: START_MS + 11 * MINUTE_MS })?.text).toMatch(
    /^has had no answer for 11 minutes, after 1/,
  );
});

test('a model that does not answer is told, and an agent that has answered is not waited for', () => {
  const ended: TrajectoryPayload = {
    kind: 'tool_ended',
    tool_call_id: 'c',
    tool_name: 'Bash',
    result: 'ok',
    is_error: false,
  };
  expect(alertAfter(11, [...running('ls'), ended])).toBe(
    'has had no record for 11 minutes: its model has not answered',
  );
  expect(alertAfter(60, [answered('All done.')])).toBeUndefined();
  expect(alertAfter(60, [...running('ls'), { kind: 'run_ended', outcome: 'ended', new_messages: [] }])).toBeUndefined();
});

test('a run that waits for a person is told after two minutes, in the words of its host', () => {
  const asked: TrajectoryPayload = {
    kind: 'session_event',
    event_type: 'permission_requested',
    data: { tool: 'Bash' },
  };
  expect(alertAfter(1, [...running('rm -rf build'), asked])).toBeUndefined();
  expect(alertAfter(2, [...running('rm -rf build'), asked])).toBe('waits for permission to use Bash: rm -rf build');
  expect(alertAfter(3, running('rm -rf build'), { hostWaitsFor: 'permission prompt' })).toBe(
    'waits for permission prompt: rm -rf build',
  );
  const question = { questions: [{ question: 'Which one?' }] };
  expect(
    alertAfter(3, [{ kind: 'tool_started', tool_call_id: 'q', tool_name: 'AskUserQuestion', args: question }]),
  ).toBe('waits for your answer: Which one?');
});

test('a listener is told once that a context is nearly full, again after a compaction, and that a session starts many subagents', async () => {
  const cox = createCoxswain({ store: memoryStore(), feedback: [], guidance: [] });
  const told: string[] = [];
  cox.listen({ alert: ({ kind, text }, runId) => told.push(`${runId} ${kind}: ${text}`) });
  const run = cox.startRun({ runId: 'r', modelId: 'claude-sonnet-4-5' });
  const answer = (inputTokens: number): void => {
    const usage = { inputTokens, outputTokens: 1 };
    run.emit({ type: 'message_end', message: { role: 'assistant', content: 'So.', usage } });
  };
  for (const tokens of [100_000, 156_000, 160_000]) answer(tokens);
  run.emit({ type: 'compaction', trigger: 'auto' });
  for (const tokens of [20_000, 170_000]) answer(tokens);
  for (let child = 0; child < 21; child += 1) run.child({ runId: `r/${child}` });
  await cox.close();
  expect(told).toEqual([
    "r context: has filled 78 % of its model's context: 156,000 of 200,000 tokens",
    "r context: has filled 85 % of its model's context: 170,000 of 200,000 tokens",
    'r runaway: has started 20 subagents in 10 minutes',
  ]);
});
