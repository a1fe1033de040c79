import { expect, test } from 'vitest';

import { createCoxswain, type Coxswain, type CoxswainOptions } from '../src/core/run/coxswain.ts';
import type { Run } from '../src/core/run/run.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { readAll } from './support/script-records.ts';
import type { FeedbackProvider } from '../src/core/steering/prompt/feedback-provider.ts';

const says = (name: string): FeedbackProvider => ({
  name,
  shouldRun: () => true,
  provide: () => ({ summary: `${name} speaks.`, severity: 'info' }),
});

function call(run: Run, id: string): void {
  run.emit({ type: 'tool_execution_start', toolCallId: id, toolName: 'look', args: { id } });
  run.emit({ type: 'tool_execution_end', toolCallId: id, toolName: 'look', result: id, isError: false });
  for (const advice of run.advise('post_tool_result')) advice.delivered('tool-result');
}

async function played(options: CoxswainOptions, calls: number): Promise<{ cox: Coxswain; held: readonly unknown[] }> {
  const store = memoryStore();
  const cox = createCoxswain({ store, ...options });
  const run = cox.startRun({ runId: 'r' });
  for (let index = 0; index < calls; index += 1) call(run, `c${index}`);
  await run.end();
  const records = await readAll(store, 'r');
  return { cox, held: records.flatMap(({ payload }) => (payload.kind === 'advice_held' ? [payload] : [])) };
}

test('feedback that noise control holds back is recorded once with its reason, and again after it was said', async () => {
  const trigger = { everyNCalls: 1 };
  const { cox, held } = await played(
    {
      feedback: [{ provider: says('Talker'), trigger }],
      cadence: 'per-provider',
      noise: { feedbackCooldownCalls: 3 },
    },
    6,
  );
  expect(held).toMatchObject([
    { provider_name: 'Talker', point: 'post_tool_result', reason: 'cooldown' },
    { provider_name: 'Talker', point: 'post_tool_result', reason: 'cooldown' },
  ]);
  expect(cox.health().providers).toEqual({ Talker: { failures: 0, overruns: 0, offIn: 0, held: 2 } });
});

test('the guidance that finds the turn full is recorded with its reason', async () => {
  const guidance = ['one', 'two', 'three', 'four', 'five'].map((name) => ({
    provider: {
      name,
      category: name,
      priority: 1,
      defaultDecisionPoints: ['pre_tool_selection'] as const,
      classify: () => ({ relevant: true, confidence: 1 }),
      provide: () => ({ key: name, category: name, priority: 1, content: `Mind ${name}.` }),
    },
  }));
  const store = memoryStore();
  const cox = createCoxswain({ store, guidance, maxGuidancePerTurn: 3 });
  const run = cox.startRun({ runId: 'r' });
  expect(run.advise('pre_tool_selection')).toHaveLength(3);
  await run.end();
  const held = (await readAll(store, 'r')).flatMap(({ payload }) => (payload.kind === 'advice_held' ? [payload] : []));
  expect(held).toMatchObject([
    { provider_name: 'four', point: 'pre_tool_selection', reason: 'turn-full' },
    { provider_name: 'five', point: 'pre_tool_selection', reason: 'turn-full' },
  ]);
});

test('health names each provider that failed, took too long or is off', async () => {
  let nowMs = 0;
  const throws: FeedbackProvider = {
    name: 'Throws',
    shouldRun: () => true,
    provide: () => {
      throw new Error('no such table');
    },
  };
  const slow: FeedbackProvider = {
    ...says('Slow'),
    provide: () => {
      nowMs += 200;
      return { summary: 'Slow speaks.', severity: 'info' };
    },
  };
  const trigger = { everyNCalls: 1 };
  const { cox } = await played(
    {
      feedback: [throws, slow].map((provider) => ({ provider, trigger })),
      delivery: 'all',
      cadence: 'per-provider',
      measureMs: () => nowMs,
    },
    5,
  );
  expect(cox.health().providers).toEqual({
    Slow: { failures: 0, overruns: 3, offIn: 1, held: 0 },
    Throws: { failures: 5, overruns: 0, offIn: 0, held: 0, lastFault: 'no such table' },
  });
});

test('health has no providers while none failed and nothing was held back', async () => {
  const { cox } = await played({ feedback: [{ provider: says('Talker'), trigger: { everyNCalls: 2 } }] }, 4);
  expect(cox.health().providers).toBeUndefined();
});

test.each([
  ['a limit of the run', { maxPerRun: 1 }, {}, false],
  ['a share of the calls', { callsPerAdvice: 50 }, {}, false],
  ['the limit of the provider', {}, { maxPerRun: 1 }, false],
  ['a limit of one pattern', { maxPerPattern: 1 }, {}, true],
])('advice that did not reach the agent counts toward no limit: %s', (_name, noise, limits, pattern) => {
  const about = { identity: 'identical_call:x', level: 'warn', occurrences: 3 } as const;
  const provider = {
    name: 'one',
    category: 'one',
    decisionPoints: ['pre_tool_selection'] as const,
    classify: () => ({ relevant: true, confidence: 1, ...(pattern ? { pattern: about } : {}) }),
    provide: () => ({ key: 'one', content: 'Mind it.' }),
  };
  const run = createCoxswain({ guidance: [{ provider, maxPerTurn: 9, ...limits }], noise }).startRun();
  const said: string[] = [];
  for (let index = 0; index < 30; index += 1) {
    call(run, `c${index}`);
    for (const advice of run.advise('pre_tool_selection')) {
      if (said.length < 2) advice.undelivered('no room');
      else advice.delivered('request');
      said.push(advice.text);
    }
  }
  expect(said.length).toBe(3);
});

test('a host that delivers nothing does not get the same advice for ever', () => {
  const run = createCoxswain({
    guidance: [
      {
        provider: {
          name: 'one',
          category: 'one',
          decisionPoints: ['pre_tool_selection'],
          classify: () => ({ relevant: true, confidence: 1 }),
          provide: () => ({ key: 'one', content: 'Mind it.' }),
        },
      },
    ],
    noise: { maxPerRun: 1 },
  }).startRun();
  let said = 0;
  for (let index = 0; index < 100; index += 1) {
    call(run, `c${index}`);
    for (const advice of run.advise('pre_tool_selection')) {
      advice.undelivered('requests are not seen');
      said += 1;
    }
  }
  expect(said).toBe(4);
});

test.each(['shadow mode', 'an experiment'])('advice that %s keeps back counts like advice that was given', (name) => {
  const run = createCoxswain({
    ...(name === 'shadow mode' ? { mode: 'shadow' as const } : { holdout: 1 }),
    feedback: [{ provider: says('Talker'), trigger: { everyNCalls: 1 } }],
    noise: { feedbackCooldownCalls: 10 },
    cadence: 'per-provider',
  }).startRun();
  for (let index = 0; index < 21; index += 1) call(run, `c${index}`);
  const entry = run.snapshot().fold.steering.ledger[0];
  expect(entry).toMatchObject({ identity: 'feedback:Talker', said: 3 });
});
