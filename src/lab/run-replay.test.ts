import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createCoxswain } from '../core/run/coxswain.ts';
import type { FeedbackProvider } from '../core/steering/prompt/feedback-provider.ts';
import type { SteeringOptions } from '../core/steering/steering-options.ts';
import { sqliteStore } from '../stores/sqlite/sqlite-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { readAll } from '../../test/support/script-records.ts';
import { fakeSecrets } from '../../test/support/fake-secrets.ts';
import { testFolder } from '../../test/support/test-folder.ts';
import { backtest } from './backtest.ts';
import { configurationOf } from './configuration.ts';
import { RunReplay } from './replay-shard.ts';
import { FiringKeys } from './run-row.ts';

const folder = testFolder();

const [secret] = fakeSecrets();

/** Names a secret, and says it again only where it reads that it was taken out of what it said. */
const leaky: FeedbackProvider = {
  name: 'leaky',
  shouldRun: ({ lastOwnFeedback }) => lastOwnFeedback?.summary.includes('REDACTED') !== false,
  provide: () => ({ summary: `The key is ${secret?.secret ?? ''}.` }),
};
const steering: SteeringOptions = {
  feedback: [{ provider: leaky, trigger: { everyNCalls: 1 } }],
  noise: { feedbackCooldownCalls: 0 },
};
const CALLS = 4;

async function recordLive(path: string, redaction?: false): Promise<number> {
  const store = sqliteStore(path);
  const clock = createFakeClock(1_000_000);
  const options = { ...steering, ...(redaction === undefined ? {} : { redaction }), store, clock, measureMs: () => 0 };
  const run = createCoxswain(options).startRun({ runId: 'run' });
  for (let index = 0; index < CALLS; index += 1) {
    const call = { toolCallId: `c${index}`, toolName: 'bash' };
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', ...call, args: { command: `cat ${index}` } });
    clock.advance(20);
    run.emit({ type: 'tool_execution_end', ...call, result: `part ${index}`, isError: false });
    for (const advice of run.advise('post_tool_result')) advice.delivered('test');
  }
  await run.end('ended');
  await run.flush();
  const records = await readAll(store, 'run');
  await store.close();
  return records.filter(({ payload }) => payload.kind === 'feedback_produced').length;
}

async function firedIn(path: string): Promise<number | undefined> {
  const { report } = await backtest([path], { steering });
  return report.parts[0]?.byConfiguration[0]?.advice.fired;
}

test('a provider that reads its own words reads them without secrets, as in the live run', async () => {
  const path = join(folder, 'clean');
  expect(await recordLive(path)).toBe(CALLS);
  expect(await firedIn(path)).toBe(CALLS);
});

test('a configuration that redacts nothing lets a provider read its own words whole, live and in a backtest', async () => {
  const path = join(folder, 'whole');
  expect(await recordLive(path, false)).toBe(1);
  const store = sqliteStore(path);
  const replay = new RunReplay('run', [configurationOf(steering, 'whole', false)], new FiringKeys());
  for await (const record of store.readRun('run')) replay.fold(record);
  await store.close();
  // A pair a firing: the key and the call.
  expect(replay.row().fired).toEqual([[0, 0]]);
});

test('in a run that was not steered, too, providers read their own words without secrets', () => {
  const replay = new RunReplay('run', [configurationOf(steering, 'given')], new FiringKeys());
  const at = { schema_version: 1, run_id: 'run', depth: 0, recorded_at_unix_ms: 0 } as const;
  const identity = { run_id: 'run', depth: 0 };
  replay.fold({ ...at, seq: 0, payload: { kind: 'run_started', identity } });
  for (let index = 0; index < CALLS; index += 1) {
    const call = { tool_call_id: `c${index}`, tool_name: 'bash' };
    replay.fold({ ...at, seq: 2 * index + 1, payload: { kind: 'tool_started', ...call, args: { index } } });
    const ended = { kind: 'tool_ended', ...call, result: `part ${index}`, is_error: false } as const;
    replay.fold({ ...at, seq: 2 * index + 2, payload: ended });
  }
  replay.fold({ ...at, seq: 2 * CALLS + 1, payload: { kind: 'turn_started' } });
  expect(replay.row()).toMatchObject({ calls: CALLS, own: false, fired: [[0, 0, 0, 1, 0, 2, 0, 3]] });
});
