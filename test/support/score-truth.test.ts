import { expect, test } from 'vitest';
import type { TrajectoryPattern } from '../../src/core/records/trajectory-pattern.ts';
import { delayOf, isFlaggedAt, scoreTruth, truthCells, type FoldedRun, type Moment } from './score-truth.ts';

function flag(flaggedAt: number, clearedAt?: number): TrajectoryPattern {
  return {
    kind: 'cycle',
    identity: `cycle:${flaggedAt}`,
    stuck: true,
    level: 'warn',
    confidence: 0.75,
    evidence: [flaggedAt],
    firstSeen: flaggedAt,
    flaggedAt,
    occurrences: 3,
    ...(clearedAt === undefined ? {} : { clearedAt }),
  };
}

function run(name: string, flags: readonly TrajectoryPattern[], success?: boolean): FoldedRun {
  return { corpus: 'bash', run: name, calls: 10, flags, ...(success === undefined ? {} : { success }) };
}

function moment(name: string, call: number, since?: number): Moment {
  const where = { corpus: 'bash', run: name, call, part: 'build' } as const;
  return since === undefined ? { ...where, label: 'fine' } : { ...where, label: 'stuck', since, kind: 'cycle' };
}

test('a moment is flagged from the call of the flag until the pattern ends', () => {
  const flagged = run('a', [flag(4, 7)]);
  expect([4, 5, 7, 8].map((call) => isFlaggedAt(flagged, call))).toEqual([false, true, true, false]);
});

test('a stretch is found late or early, but not by a flag that ended before it began', () => {
  expect(delayOf(run('a', [flag(6)]), moment('a', 8, 5))).toBe(2);
  expect(delayOf(run('a', [flag(3)]), moment('a', 8, 5))).toBe(-1);
  expect(delayOf(run('a', [flag(1, 3)]), moment('a', 8, 5))).toBeNull();
  expect(delayOf(run('a', [flag(8)]), moment('a', 8, 5))).toBeNull();
});

test('two moments of one stretch count once, and debatable ones in no share', () => {
  const runs = [run('a', [flag(4)], true), run('b', [], true)];
  const debatable: Moment = { corpus: 'bash', run: 'a', call: 6, part: 'build', label: 'debatable' };
  const score = scoreTruth(runs, [moment('a', 6, 5), moment('a', 8, 5), moment('a', 9), moment('b', 3, 2), debatable]);
  expect(score).toMatchObject({
    stretches: 2,
    found: 1,
    flagged: 3,
    flaggedStuck: 2,
    flaggedDebatable: 1,
    delays: [0],
  });
  expect(score).toMatchObject({ succeeded: 2, succeededFlagged: 1, alarms: 1, calls: 20 });
  expect(truthCells(score)[3]).toBe('1/2 50.0 % (9.5-90.5)');
});
