import { expect, test } from 'vitest';

import { runStory, sentenceText, type StoryFacts } from './run-story.ts';

const NOTHING: StoryFacts = {
  calls: 12,
  complete: true,
  patternBasis: 'recorded',
  patterns: [],
  advice: [],
  adviceLeftOut: 0,
};
const STUCK = {
  kind: 'repeated_error',
  stuck: true,
  occurrences: 8,
  fromCall: 2,
  fromSeq: 9,
  flaggedCall: 5,
  toCall: null,
};
const ADVICE = { delivery: 'delivered', callsBefore: 5, nextCall: 'same-failure', seq: 30, isLeft: false } as const;

function textsOf(facts: Partial<StoryFacts>): readonly string[] {
  return runStory({ ...NOTHING, ...facts }).map((sentence) => `${sentence.name} ${sentenceText(sentence)}`);
}

test('a run without a pattern and without advice has four short sentences', () => {
  expect(textsOf({})).toEqual([
    'Got stuck Never.',
    'Cost of it No warning, so no waste.',
    'Advice None.',
    'Did it help? There was no advice.',
  ]);
});

test('a stuck run says where, what it cost, what was advised, and that it did not help', () => {
  const wasted = { call: 5, calls: 7, ms: 130_000, kind: 'repeated_error', costUsd: 0.17 };
  const advice = [
    { ...ADVICE, pattern: {} },
    { ...ADVICE, pattern: {}, nextCall: 'repeated', seq: 40 } as const,
    { ...ADVICE, pattern: {}, delivery: 'withheld' } as const,
  ];
  expect(textsOf({ patterns: [STUCK], wasted, errorLine: ['bash: not found', 9], advice })).toEqual([
    'Got stuck From call 2 to the end, noticed at call 5: the same error again and again (at least 8 times). 9 of 12 calls: bash: not found',
    'Cost of it 7 calls · 2 minutes · $0.17 after the first warning (58 % of the calls).',
    'Advice 2 times, first after call 5; 1 held back by the experiment.',
    'Did it help? No: the pattern was not cleared. Next, 1× it made the same call again, 1× it failed in the same way.',
  ]);
});

test('a pattern that was cleared after advice is no proof that the advice helped', () => {
  const advice = [{ ...ADVICE, pattern: {}, isLeft: true, nextCall: 'succeeded' } as const];
  expect(textsOf({ advice })[3]).toBe(
    'Did it help? Perhaps: the pattern was cleared. Next, it made another call, which succeeded.',
  );
});

test('advice about a deadline says nothing about a pattern', () => {
  expect(textsOf({ patterns: [STUCK], advice: [ADVICE] })[3]).toBe(
    'Did it help? The advice was not about a pattern. Next, it failed in the same way.',
  );
});

test('withheld advice shows what happens without it', () => {
  const withheld = { ...ADVICE, delivery: 'withheld', pattern: {}, isLeft: true } as const;
  expect(textsOf({ advice: [withheld, { ...withheld, isLeft: false }] }).slice(2)).toEqual([
    'Advice No advice reached the agent; 2 held back by the experiment.',
    'Did it help? Without it, it failed in the same way. Later the pattern was cleared after 1 of 2.',
  ]);
});
