import { readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { alertOf } from '../src/core/facts/run-alert.ts';
import { RunView } from '../src/core/facts/run-view.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import type { Run } from '../src/core/run/run.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import type { Notification } from '../src/hosts/notify/notification.ts';
import { RunNotifications } from '../src/hosts/notify/run-notifications.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { scriptRun } from './support/script-records.ts';

const ID = '545b45d4';
const ABOUT = { project: 'shop', look: () => `coxswain show ${ID}` };
const TASK = 'Fix the login test';
const AT_MS = new Date(2026, 0, 5, 2, 14).getTime();

/** The records of a run that only has these payloads. */
function recorded(...payloads: readonly TrajectoryPayload[]): readonly TrajectoryRecord[] {
  const begin: TrajectoryPayload = { kind: 'run_started', identity: { run_id: ID, depth: 0 }, task: TASK };
  return scriptRun(ID, [begin, ...payloads]).map((record) => Object.assign(record, { recorded_at_unix_ms: AT_MS }));
}

/** The records of a live run. */
async function live(
  options: Parameters<ReturnType<typeof createCoxswain>['startRun']>[0],
  work: (run: Run) => Promise<void>,
): Promise<readonly TrajectoryRecord[]> {
  const cox = createCoxswain({ store: memoryStore(), clock: createFakeClock(AT_MS) });
  const records: TrajectoryRecord[] = [];
  cox.listen({ record: (record) => records.push(record) });
  await work(cox.startRun({ runId: ID, task: TASK, ...options }));
  await cox.close();
  return records;
}

async function repeat(run: Run, calls: number): Promise<void> {
  for (let at = 0; at < calls; at += 1) {
    run.emit({ type: 'tool_execution_start', toolCallId: `c${at}`, toolName: 'Bash', args: { command: 'make' } });
    run.emit({ type: 'tool_execution_end', toolCallId: `c${at}`, toolName: 'Bash', result: 'no rule', isError: true });
    run.feedback();
  }
}

/** The notifications of a run, and what a clock finds some minutes after its last record. */
function newsOf(records: readonly TrajectoryRecord[], minutes = 0): readonly Notification[] {
  const notifications = new RunNotifications();
  const view = new RunView();
  const told = records.flatMap((record) => {
    view.fold(record);
    return notifications.take(record, ID, ABOUT);
  });
  const nowMs = AT_MS + minutes * 60_000;
  const alert = alertOf(view, { nowMs });
  const found = alert && notifications.found(ID, [alert.kind, alert.text], alert.sinceMs);
  return [...told, ...notifications.overdue(nowMs), ...(found === undefined ? [] : [found])];
}

const bash = (command: string): TrajectoryPayload => ({
  kind: 'tool_started',
  tool_call_id: 'c',
  tool_name: 'Bash',
  args: { command },
});

const answerOf = (usage: { readonly inputTokens: number; readonly outputTokens: number }): TrajectoryPayload => ({
  kind: 'message_appended',
  message: {
    role: 'assistant',
    content: 'On it.',
    model_id: 'claude-opus-4-5',
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
  },
});

test('docs/notifications.md has the sentence of each event', async () => {
  const asked: TrajectoryPayload = {
    kind: 'session_event',
    event_type: 'permission_requested',
    data: { tool: 'Bash' },
  };
  const labels = { error: "You've hit your limit · resets 3am (UTC)" };
  const end = { kind: 'run_ended', outcome: 'error', new_messages: [] } as const;
  const failure: TrajectoryPayload = {
    kind: 'tool_ended',
    tool_call_id: 'c',
    tool_name: 'Bash',
    result: '1 failed, 2 passed',
    is_error: true,
  };
  const made = [
    ...newsOf(recorded(bash('rm -rf build'), asked), 2),
    ...newsOf(recorded(bash('git push')), 10),
    ...newsOf(recorded({ ...end, reason: 'rate_limit', labels })),
    ...newsOf(recorded(answerOf({ inputTokens: 156_000, outputTokens: 400 }))),
    ...newsOf(recorded(...Array.from({ length: 10 }, () => answerOf({ inputTokens: 100_000, outputTokens: 40_000 })))),
    ...newsOf(await live({}, async (run) => repeat(run, 12))),
    ...newsOf(await live({ budget: { calls: 1 } }, async (run) => repeat(run, 1))),
    ...newsOf(await live({ deadline: { minutes: 5 } }, async () => {}), 6),
    ...newsOf(recorded(bash('npm test'), failure, { ...end, outcome: 'ended', reason: 'answered' })),
  ].filter(({ event }, index, all) => all.findIndex((other) => other.event === event) === index);
  const page = await readFile(new URL('../docs/notifications.md', import.meta.url), 'utf8');
  const examples = page.matchAll(/^\| `(\w+)` \|[^|]*\| `([^`]*)` \|$/gm);
  const documented = Object.fromEntries([...examples].map(([, event, example]) => [event, example]));
  const { failed: _failed, test: _test, ...others } = documented;
  expect(Object.fromEntries(made.map(({ event, message }) => [event, message]))).toEqual(others);
});
