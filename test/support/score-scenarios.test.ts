import { expect, test } from 'vitest';
import { scoreScenario, totalOf } from './score-scenarios.ts';

const same = { tool: 'read', args: { path: 'a' }, result: 'one text', isError: false };
const score = (calls: number, expected: object): ReturnType<typeof scoreScenario> =>
  scoreScenario({ id: 'x', calls: Array.from({ length: calls }, () => same), expect: expected }, { name: 'x.json' });

test('the first flag decides: right, late, premature, missed or false', () => {
  expect(score(4, { stuckAt: 2, kind: 'identical_call' })).toMatchObject({ verdict: 'right', firstFlag: 2 });
  expect(score(4, { stuckAt: 1, kind: 'identical_call' }).verdict).toBe('late');
  expect(score(5, { stuckAt: 4, onset: 3, kind: 'identical_call' }).verdict).toBe('premature');
  expect(score(2, { stuckAt: 1, kind: 'identical_call' }).verdict).toBe('missed');
  expect(score(4, { stuckAt: null, kind: null }).verdict).toBe('false');
  expect(score(2, { stuckAt: null, kind: null }).verdict).toBe('right');
});

test('verdicts add up', () => {
  const total = totalOf([
    score(4, { stuckAt: 1, kind: 'k' }),
    score(4, { stuckAt: 2, kind: 'k' }),
    score(4, { stuckAt: null, kind: null }),
  ]);
  expect(total).toEqual({ stuck: 2, found: 2, legitimate: 1, falseAlarms: 1, premature: 0, meanDelay: 0.5 });
});

test('a file that is no scenario is refused', () => {
  expect(() => scoreScenario({ calls: [] }, { name: 'y.json' })).toThrow(/y.json is no scenario/);
});
