import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createCoxswain } from '../core/run/coxswain.ts';
import type { TrajectoryRecord } from '../core/records/trajectory-record.ts';
import { staticFeedback } from '../core/steering/feedback/built-in-feedback.ts';
import { resolveSteering } from '../core/steering/resolve-steering.ts';
import { definePrompt } from '../core/steering/prompt/define-prompt.ts';
import type { PromptTemplate } from '../core/steering/prompt/prompt-template.ts';
import type { SteeringOptions } from '../core/steering/steering-options.ts';
import { standardSteering } from '../core/steering/standard-steering.ts';
import { sqliteStore } from '../stores/sqlite/sqlite-store.ts';
import type { TrajectorySink } from '../core/store/trajectory-store.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { readAll } from '../../test/support/script-records.ts';
import { testFolder } from '../../test/support/test-folder.ts';
import { backtest } from './backtest.ts';
import { verifyRun, verifyRuns, type RunVerification } from './verify-runs.ts';

const folder = testFolder();

/** A live run that gets stuck and is steered. */
async function recordLive(
  store: TrajectorySink,
  runId: string,
  steering: SteeringOptions,
  prompt?: PromptTemplate,
): Promise<void> {
  const clock = createFakeClock(1_000_000);
  const run = createCoxswain({ ...steering, store, clock, measureMs: () => 0 }).startRun({
    runId,
    task: 'make it pass',
    deadline: { minutes: 5 },
    budget: { calls: 20 },
    ...(prompt === undefined ? {} : { prompt }),
  });
  for (let index = 0; index < 9; index += 1) {
    const call = { toolCallId: `c${index}`, toolName: 'bash' };
    run.emit({ type: 'turn_start' });
    for (const advice of run.advise('pre_tool_selection')) advice.delivered('test');
    run.emit({ type: 'tool_execution_start', ...call, args: { command: 'make' } });
    clock.advance(20);
    run.emit({ type: 'tool_execution_end', ...call, result: 'no rule', isError: true });
    for (const advice of run.advise('post_tool_result')) advice.delivered('test');
  }
  await run.end('ended');
  await run.flush();
}

async function verified(
  path: string,
  steering: SteeringOptions,
  prompts: readonly PromptTemplate[] = [],
): Promise<readonly RunVerification[]> {
  return Array.fromAsync(verifyRuns([path], { steering, prompts }));
}

async function* each(records: readonly TrajectoryRecord[]): AsyncGenerator<TrajectoryRecord> {
  yield* records;
}

test('a run that was recorded live reproduces every derived record', async () => {
  const path = join(folder, 'runs.db');
  const store = sqliteStore(path);
  await recordLive(store, 'plain', standardSteering());
  await recordLive(store, 'hook', { ...standardSteering(), retain: 'compact' });
  await recordLive(store, 'other', { feedback: [] });
  await store.close();
  const runs = await verified(path, standardSteering());
  const byRun = new Map(runs.map((run) => [run.run, run]));
  expect(byRun.get('plain')).toMatchObject({ status: 'equal', mismatched: 0 });
  expect(byRun.get('plain')?.matched).toBeGreaterThan(5);
  expect(byRun.get('hook')).toMatchObject({ status: 'equal', mismatched: 0 });
  const { configurationHash } = resolveSteering({ feedback: [] });
  expect(byRun.get('other')).toMatchObject({ status: 'other-configuration', detail: configurationHash, matched: 0 });
});

test('without a configuration, runs are verified under the standard steering', async () => {
  const path = join(folder, 'default.db');
  const store = sqliteStore(path);
  await recordLive(store, 'run', {});
  await store.close();
  for (const runs of [verifyRuns([path]), verifyRuns([path], {})])
    expect(await Array.fromAsync(runs)).toMatchObject([{ status: 'equal', mismatched: 0 }]);
});

test('a derived record that was changed, lost or made up is told, with both sides', async () => {
  const path = join(folder, 'tampered.db');
  const store = sqliteStore(path);
  await recordLive(store, 'run', standardSteering());
  const records = await readAll(store, 'run');
  await store.close();
  const ways = { steering: standardSteering() };
  const at = records.findIndex(({ payload }) => payload.kind === 'feedback_produced');
  const changed = records.map((record, index): TrajectoryRecord => {
    if (index !== at || record.payload.kind !== 'feedback_produced') return record;
    return { ...record, payload: { ...record.payload, text: 'Something else was said.' } };
  });
  const different = await verifyRun('run', each(changed), ways);
  expect(different).toMatchObject({ status: 'different', mismatched: 1 });
  expect(different.mismatches[0]).toMatchObject({ recorded: { text: 'Something else was said.' } });
  expect(different.mismatches[0]?.replayed).not.toEqual(different.mismatches[0]?.recorded);
  const lost = await verifyRun('run', each(records.toSpliced(at, 1)), ways);
  expect(lost).toMatchObject({ status: 'different', mismatched: 1 });
  expect(lost.mismatches[0]).not.toHaveProperty('recorded');
  const [record] = records.slice(at);
  if (record === undefined) throw new Error('nothing was said');
  const madeUp = await verifyRun('run', each(records.toSpliced(at, 0, record)), ways);
  expect(madeUp.mismatches[0]).not.toHaveProperty('replayed');
});

test('a run that was cut off between an input and what follows from it is equal, one with a gap is exempt', async () => {
  const store = sqliteStore(join(folder, 'cut.db'));
  await recordLive(store, 'run', standardSteering());
  const records = await readAll(store, 'run');
  await store.close();
  const ways = { steering: standardSteering() };
  const at = records.findIndex(({ payload }) => payload.kind === 'feedback_produced');
  expect(await verifyRun('run', each(records.slice(0, at)), ways)).toMatchObject({ status: 'equal' });
  const seq = records[at]?.seq ?? 0;
  const gap = { ...records[0], seq, payload: { kind: 'gap', through_seq: seq, reason: 'lost' } } as TrajectoryRecord;
  expect(await verifyRun('run', each(records.with(at, gap)), ways)).toMatchObject({ status: 'gap', mismatched: 0 });
});

test('a backtest under its own configuration gives the advice of the live run at the same points', async () => {
  const path = join(folder, 'own.db');
  const store = sqliteStore(path);
  await recordLive(store, 'run', standardSteering());
  const records = await readAll(store, 'run');
  await store.close();
  const pieces = records.filter(({ payload }) => payload.kind.endsWith('_produced')).length;
  const { report } = await backtest([path]);
  expect(report.input).toMatchObject({ runs: 1, ownEvaluations: 1, neverAsked: 0, advised: 1 });
  expect(report.notes).toContainEqual(expect.stringMatching(/^1 of 1 run got advice while .* includes its effect\.$/));
  expect(report.parts[0]?.byConfiguration[0]?.advice.fired).toBe(pieces);
  expect(pieces).toBeGreaterThan(2);
});

test('a run whose prompt declares who speaks is equal with that prompt, and different without it', async () => {
  const provider = { name: 'careful', shouldRun: () => true, provide: () => ({ summary: 'Look before you go on.' }) };
  const prompt = definePrompt({
    ns: 'test',
    key: 'careful',
    feedbackProviders: [{ provider, trigger: { everyNCalls: 3 } }],
  });
  const path = join(folder, 'prompt.db');
  const store = sqliteStore(path);
  await recordLive(store, 'run', standardSteering(), prompt);
  await store.close();
  expect(await verified(path, standardSteering(), [prompt])).toMatchObject([{ status: 'equal', mismatched: 0 }]);
  const [without] = await verified(path, standardSteering());
  expect(without).toMatchObject({ status: 'different' });
  const recorded: unknown = expect.objectContaining({ provider_name: 'careful' });
  expect(without?.mismatches).toContainEqual(expect.objectContaining({ recorded }));
});

test('a prompt without providers need not be passed: counts by its name stay the same', async () => {
  const steering: SteeringOptions = {
    feedback: [{ provider: staticFeedback({ name: 'Note', summary: 'Go on.' }), trigger: { everyNCalls: 2 } }],
    noise: { feedbackCooldownCalls: 0 },
  };
  const path = join(folder, 'named.db');
  const store = sqliteStore(path);
  await recordLive(store, 'run', steering, definePrompt({ ns: 'test', key: 'plain' }));
  const pieces = (await readAll(store, 'run')).filter(({ payload }) => payload.kind === 'feedback_produced').length;
  await store.close();
  expect(pieces).toBeGreaterThan(2);
  expect(await verified(path, steering)).toMatchObject([{ status: 'equal', mismatched: 0 }]);
  const { report } = await backtest([path], { steering });
  expect(report.parts[0]?.byConfiguration[0]?.advice.fired).toBe(pieces);
});
