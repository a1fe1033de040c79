import { expect, test } from 'vitest';

import type { Label } from '../../lab/labels.ts';
import type { MatchedRun } from './match-runs.ts';
import { disagreements, reviewQueue } from './review-queue.ts';

function run(runId: string, calls: number, patternCalls: readonly number[]): MatchedRun {
  // Of a run its id, its calls and these extras are read.
  return {
    listed: { source: { id: '0' } },
    run: { runId, calls },
    extras: { patternCalls, adviceCalls: [2] },
  } as never;
}

test('moments are of the requested kind, at most three per run, always in the same order', () => {
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

test('a disagreement is a label that the patterns contradict', () => {
  const stuck = {
    ...run('a', 9, [4]),
    extras: { patternCalls: [4], adviceCalls: [], stuck: true, wasted: { call: 4 } },
  };
  const runs = [stuck as never, run('b', 5, [])];
  const label = (id: string, target: 'stuck' | 'ok' | 'skip'): Label => ({ id, target, split: '', note: '' });
  const found = (labels: readonly Label[]): readonly string[] =>
    disagreements(runs, labels).map(({ call, runId }) => `${runId}@${call}`);
  expect(found([label('a@2', 'stuck')])).toEqual(['a@2']);
  expect(found([label('a@4', 'ok')])).toEqual(['a@4']);
  expect(found([label('a@4', 'stuck'), label('a@3', 'ok'), label('a@2', 'skip'), label('b@1', 'ok')])).toEqual([]);
  expect(found([label('a', 'ok')])).toEqual(['a@4']);
  expect(found([label('b', 'stuck')])).toEqual(['b@5']);
  expect(found([label('a', 'stuck'), label('b', 'ok')])).toEqual([]);
});
