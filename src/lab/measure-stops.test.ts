import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import type { TrajectoryPattern } from '../core/records/trajectory-pattern.ts';
import { measureStops, type StoppableRun } from './measure-signals.ts';
import { STOP_AFTER, StopPoints, type RunUse } from './judge-gates.ts';

const flag = (level: 'warn' | 'strong', stuck = true): TrajectoryPattern => ({
  kind: 'identical_call',
  identity: 'identical_call:x',
  stuck,
  level,
  confidence: 0.9,
  evidence: [0],
  firstSeen: 0,
  flaggedAt: 0,
  occurrences: 3,
});

/** A run whose every call takes 10 tokens, a cent and, where it is timed, a second; it is warned after some calls (indices). */
function run(calls: number, warnedAt: readonly number[], positive: boolean | null = true, timed = true): StoppableRun {
  const stops = new StopPoints();
  let done = 0;
  const use = (): RunUse => ({ ms: 1_000 * done, tokens: 10 * done, costUsd: done / 100 });
  for (let index = 0; index < calls; index += 1) {
    done = index + 1;
    stops.ended(done, use);
    if (warnedAt.includes(index)) stops.flagged(flag('warn'), index, use);
  }
  return { calls, use: timed ? use() : { ...use(), ms: null }, positive, stops: stops.points() };
}

test('calls, time, tokens and cost after the stop are saved, and nothing else', () => {
  const { policies } = measureStops([run(20, [4]), run(10, []), run(6, [4, 5])]);
  const [any, kind] = policies;
  expect([any?.kind, any?.level, any?.warnedRuns, kind?.kind]).toEqual([null, 'warn', 2, 'identical_call']);
  const saved = any?.byAfter.map(({ calls }) => calls.saved);
  // The first run is stopped after 5 + N of 20 calls, the last one, of 6 calls, after 5.
  expect(saved).toEqual([15 + 1, 14, 13, 12, 10, 5]);
  for (const { calls, costUsd, ms, tokens } of any?.byAfter ?? []) {
    expect(calls.of).toBe(36);
    expect([ms.saved / 1_000, tokens.saved / 10]).toEqual([calls.saved, calls.saved]);
    expect(costUsd.saved).toBeCloseTo(calls.saved / 100);
  }
});

test('a success is lost only when it is cut off', () => {
  const { policies } = measureStops([run(20, [4], false), run(6, [4], false), run(9, [], false), run(9, [2], null)]);
  expect(policies[0]?.byAfter.map(({ lostSuccesses }) => [lostSuccesses.hits, lostSuccesses.of])).toEqual([
    [2, 3],
    [1, 3],
    [1, 3],
    [1, 3],
    [1, 3],
    [1, 3],
  ]);
});

test('a pattern that is not stuck stops nothing, and a strong warning is a warning too', () => {
  const stops = new StopPoints();
  const none = (): RunUse => ({ ms: null, tokens: null, costUsd: null });
  stops.flagged(flag('strong', false), 1, none);
  expect(stops.points()).toEqual([]);
  stops.flagged(flag('strong'), 3, none);
  expect(stops.points().map(({ kind, level }) => [kind, level])).toEqual([
    [null, 'warn'],
    ['identical_call', 'warn'],
    [null, 'strong'],
    ['identical_call', 'strong'],
  ]);
});

test('stopping later never saves more, and an unknown use is in no share', () => {
  const anyRun = fc
    .record({ calls: fc.nat(40), warned: fc.array(fc.nat(40), { maxLength: 3 }), timed: fc.boolean() })
    .map(({ calls, timed, warned }) => run(calls, warned, true, timed));
  fc.assert(
    fc.property(fc.array(anyRun, { minLength: 1, maxLength: 8 }), (runs) => {
      for (const { byAfter } of measureStops(runs).policies) {
        expect(byAfter.map(({ after }) => after)).toEqual(STOP_AFTER);
        const saved = byAfter.map(({ calls }) => calls.saved);
        expect(saved).toEqual(saved.toSorted((one, other) => other - one));
        const timed = runs.filter(({ use }) => use.ms !== null);
        expect(byAfter[0]?.ms.of).toBe(timed.reduce((sum, { calls }) => sum + 1_000 * calls, 0));
      }
    }),
  );
});
