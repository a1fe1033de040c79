import { countOf } from '../core/base/number-text.ts';

/** Returns a note on runs with the id of an earlier run; none without such runs. */
export function copiesNote(repeatedRuns: number): readonly string[] {
  if (repeatedRuns === 0) return [];
  const runs = countOf(repeatedRuns, 'run');
  return [
    `${runs} with the id of an earlier run: copies of a run count several times, so the intervals are too narrow.`,
  ];
}
