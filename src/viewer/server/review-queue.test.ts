import { expect, test } from 'vitest';

import type { MatchedRun } from './match-runs.ts';
import { reviewQueue } from './review-queue.ts';

function run(runId: string, calls: number, patternCalls: readonly number[]): MatchedRun {
  // Of a run its id, its calls and these extras are read.
  return {
    listed: { source: { id: '0' } },
    run: { runId, calls },
    extras: { patternCalls, adviceCalls: [2] },
  } as never;
}

test('moments are drawn from what is asked for, at most three of a run, in the same order every time', () => {
  const runs = [run('a', 9, [3, 3, 4, 5, 6]), run('b', 4, []), run('c', 0, [])];
  const queue = reviewQueue(runs, 'pattern');
  expect(queue).toHaveLength(3);
  expect(new Set(queue.map(({ call }) => call)).size).toBe(3);
  expect(reviewQueue(runs.toReversed(), 'pattern')).toEqual(queue);
  expect(
    reviewQueue(runs, 'advice')
      .map(({ runId }) => runId)
      .toSorted(),
  ).toEqual(['a', 'b', 'c']);
  const random = reviewQueue(runs, 'random');
  expect(random.every(({ call, runId }) => call >= 1 && call <= (runId === 'a' ? 9 : 4))).toBe(true);
  expect(new Set(random.map(({ runId }) => runId))).toEqual(new Set(['a', 'b']));
});
