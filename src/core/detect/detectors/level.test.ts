import { expect, test } from 'vitest';
import { gradeCount, appendEvidence } from './level.ts';

test('a count is a hint one below the threshold, a warning at it, strong at twice it', () => {
  expect([1, 2, 3, 5, 6].map((count) => gradeCount(count, 3)?.level)).toEqual([
    undefined,
    'hint',
    'warn',
    'warn',
    'strong',
  ]);
});

test('confidence rises with the count and stays below 1', () => {
  const confidences = [2, 3, 6, 12, 1_000].map((count) => gradeCount(count, 3)?.confidence ?? 0);
  expect(confidences).toEqual([...confidences].sort((a, b) => a - b));
  expect(confidences.at(-1)).toBeLessThanOrEqual(0.99);
});

test('evidence keeps the last 32', () => {
  let evidence: readonly number[] = [];
  for (let at = 0; at < 40; at += 1) evidence = appendEvidence(evidence, at);
  expect([evidence.length, evidence[0], evidence.at(-1)]).toEqual([32, 8, 39]);
});
