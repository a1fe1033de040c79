import { expect, test } from 'vitest';
import { foldRunSummaries, type RunSummary } from '../../core/facts/run-summary.ts';
import { runTree } from './run-totals.ts';

function run(runId: string, startedAtMs: number, parentRunId?: string): RunSummary {
  const summary = { ...foldRunSummaries(undefined, []), runId, startedAtMs };
  return parentRunId === undefined ? summary : { ...summary, parentRunId };
}

const shown = (runs: readonly RunSummary[]): readonly string[] =>
  runTree(runs).map(({ level, run: { runId } }) => `${'>'.repeat(level)}${runId}`);

test('a run is listed below its parent, in the order of start', () => {
  const runs = [run('c', 9, 'a'), run('other', 8), run('d', 7, 'b'), run('b', 6, 'a'), run('a', 5)];
  expect(shown(runs)).toEqual(['other', 'a', '>b', '>>d', '>c']);
});

test('a run whose parent is on another page stays in place', () => {
  expect(shown([run('b', 2, 'gone'), run('a', 1)])).toEqual(['b', 'a']);
});

test('runs that name each other as parents are shown once', () => {
  expect(shown([run('a', 1, 'b'), run('b', 2, 'a'), run('c', 3, 'c')]).length).toBe(3);
});
