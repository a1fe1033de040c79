import { expect, test } from 'vitest';

import { collectFeedback } from '../steering/feedback/evaluate-feedback.ts';
import { deadlineFeedback } from '../steering/feedback/built-in-feedback.ts';
import { createCoxswain } from './coxswain.ts';
import { memoryStore } from '../store/memory-store.ts';

const provider = deadlineFeedback();

test.each([
  [{ stor: {} }, 'createCoxswain has no member stor; did you mean store?'],
  [{ store: 'x.db' }, `store must be a store, such as sqliteStore('runs.db'), got "x.db"`],
  [
    { store: { append: () => 0, close: () => undefined } },
    'store must have the functions append, flush and close; sinkOf makes one of a function',
  ],
  [{ feedback: 'yes' }, 'feedback must be a list, got "yes"'],
  [{ feedback: [provider] }, expect.stringMatching(/^feedback\[0\] has no member \w+; there are provider, trigger$/)],
  [{ feedback: [{ trigger: {} }] }, 'feedback[0].provider must be a provider, such as deadlineFeedback()'],
  [
    { feedback: [{ provider, trigger: { everyNSecond: 3 } }] },
    'feedback[0].trigger has no member everyNSecond; did you mean everyNSeconds?',
  ],
  [{ prices: { mine: { inptu: 1 } } }, 'prices["mine"] has no member inptu; did you mean input?'],
  [{ prices: { mine: { input: '1' } } }, 'prices["mine"].input must be a number from 0 to 1000000000, got "1"'],
  [{ guidance: [{ provider, maxPerTrun: 1 }] }, 'guidance[0] has no member maxPerTrun; did you mean maxPerTurn?'],
])('wrong options of plain JavaScript are one error that names the member: %j', (options, message) => {
  expect(() => createCoxswain(options as never)).toThrow(
    expect.objectContaining({ code: 'invalid-argument', message }),
  );
});

test.each([
  [{ deadlin: { minutes: 1 } }, 'startRun has no member deadlin; did you mean deadline?'],
  [{ deadline: '20m' }, 'deadline must be such as { minutes: 20 } or { atMs }, got "20m"'],
  [{ deadline: { atMs: Number.NaN } }, 'a deadline is a number of Unix milliseconds, got NaN'],
  [{ budget: { tokns: 3 } }, 'budget has no member tokns; did you mean tokens?'],
  ['run-1', 'startRun must be an object, got "run-1"'],
])('wrong options of a run too: %j', (options, message) => {
  expect(() => createCoxswain().startRun(options as never)).toThrow(
    expect.objectContaining({ code: 'invalid-argument', message }),
  );
});

test('a missing prompt or session is one error that names it', () => {
  const missingPrompt = 'usePrompt needs a prompt, as definePrompt returns it';
  expect(() =>
    createCoxswain()
      .startRun()
      .usePrompt(undefined as never),
  ).toThrow(expect.objectContaining({ code: 'invalid-argument', message: missingPrompt }));
  expect(() => collectFeedback({} as never)).toThrow(
    expect.objectContaining({ code: 'invalid-argument', message: 'feedback needs a prompt and a session' }),
  );
});

test('the cost by own prices is recorded with the answer and counts for the budget', async () => {
  const store = memoryStore();
  const cox = createCoxswain({ store, prices: { mine: { input: 1, output: 4 } }, stop: { budget: true } });
  const run = cox.startRun({ runId: 'r', budget: { costUsd: 2 } });
  run.turn({ content: 'x', modelId: 'mine', usage: { inputTokens: 1_000_000, outputTokens: 500_000 } });
  expect(run.usage.costUsd).toBe(3);
  await run.end();
  const payloads = (await Array.fromAsync(store.readRun('r'))).map(({ payload }) => payload);
  expect(payloads).toContainEqual(
    expect.objectContaining({ message: expect.objectContaining({ usage: expect.objectContaining({ cost_usd: 3 }) }) }),
  );
  await cox.close();
});
