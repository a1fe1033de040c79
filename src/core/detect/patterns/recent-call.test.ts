import { expect, test } from 'vitest';
import { scriptAnalysis } from '../../../../test/support/guidance-script.ts';
import { COMPARED_CALLS } from './pattern-detector.ts';
import { TrajectoryAnalysis } from './trajectory-analysis.ts';

test('only the newest 32 calls keep their comparison keys, so that a snapshot stays small', () => {
  const analysis = scriptAnalysis(Array.from({ length: 300 }, (_, index) => ({ failed: index % 2 === 0 })));
  const recent = analysis.recentCalls();
  expect(recent).toHaveLength(224);
  expect(recent.map((call) => call.comparison !== undefined)).toEqual(
    recent.map((_, position) => position >= 224 - COMPARED_CALLS),
  );
  expect(analysis.recentErrors().every((call) => call.comparison === undefined)).toBe(true);
});

test('the comparison keys of calls survive a snapshot', () => {
  const analysis = scriptAnalysis([{ args: { path: 'a b c' }, result: 'twelve chars' }], []);
  const snapshot = analysis.snapshot();
  const restored = new TrajectoryAnalysis({ detectors: [], snapshot });
  expect(restored.recentCalls()).toEqual(analysis.recentCalls());
  expect(restored.recentCalls()[0]).toMatchObject({ resultChars: 12, comparison: { tokens: expect.any(Array) } });
});
