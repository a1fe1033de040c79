import { expect, test } from 'vitest';

import { FleetFailures, type FleetFailure } from './fleet-failures.ts';

const MINUTE_MS = 60_000;

/** The failures of one command in sessions, so many minutes apart. */
function told(
  minutes: readonly number[],
  { project = '/w', command = 'rtk bun', same = false } = {},
): readonly FleetFailure[] {
  const fleet = new FleetFailures();
  return minutes.flatMap((minute, index): readonly FleetFailure[] => {
    const place = { project, session: same ? 's' : `s${index}`, atMs: minute * MINUTE_MS };
    const found = fleet.take({ tool: 'Bash', args: { command } }, "unrecognized subcommand 'bun'", place);
    return found === undefined ? [] : [found];
  });
}

test('the same new failure in five sessions within an hour is told once', () => {
  expect(told([1, 2, 3, 4])).toEqual([]);
  expect(told([1, 2, 3, 4, 5, 6, 7])).toEqual([
    { text: 'is one of 5 sessions in which "rtk bun" failed', sinceMs: MINUTE_MS },
  ]);
});

test('one session, a longer time and a failing test are not told', () => {
  expect(told([1, 2, 3, 4, 5, 6], { same: true })).toEqual([]);
  expect(told([1, 2, 3, 4, 90])).toEqual([]);
  const fleet = new FleetFailures();
  const results = [1, 2, 3, 4, 5, 6].map((index) =>
    fleet.take({ tool: 'Bash', args: { command: 'npm test' } }, '2 failed', {
      project: '/w',
      session: `s${index}`,
      atMs: index,
    }),
  );
  expect(results.filter((one) => one !== undefined)).toEqual([]);
});
