import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { OPEN_RUN_PROTECTED_MS, planGc, type GcLimits, type PlannedTree, type SizedRun } from './collect-garbage.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = 1_800_000_000_000;

interface RunFacts {
  readonly agoMs: number;
  readonly bytes?: number;
  readonly parent?: string;
  readonly isOpen?: boolean;
  readonly isDamaged?: boolean;
}

function run(runId: string, facts: RunFacts): SizedRun {
  const lastAtMs = facts.agoMs === Infinity ? 0 : NOW_MS - facts.agoMs;
  const counts = { records: 1, lastSeq: 0, turns: 0, calls: 0, errors: 0 };
  return {
    bytes: facts.bytes ?? 10,
    summary: {
      runId,
      depth: 0,
      startedAtMs: lastAtMs,
      lastAtMs,
      ...counts,
      ...(facts.parent !== undefined && { parentRunId: facts.parent }),
      ...(facts.isOpen !== true && { outcome: 'ended' }),
      ...(facts.isDamaged === true && { problem: 'line 4 is not as it was written' }),
    },
  };
}

function plan(runs: readonly SizedRun[], limits: Partial<GcLimits>): readonly PlannedTree[] {
  return planGc(runs, { nowMs: NOW_MS, bytes: sumOf(runs), ...limits });
}

function ids(planned: readonly PlannedTree[]): readonly string[] {
  return planned.flatMap((tree) => tree.runs.map(({ summary }) => summary.runId));
}

function sumOf(runs: readonly SizedRun[]): number {
  return runs.reduce((sum, { bytes }) => sum + bytes, 0);
}

test('without limits, no run is deleted', () => {
  expect(plan([run('a', { agoMs: 900 * DAY_MS }), run('b', { agoMs: Infinity })], {})).toEqual([]);
});

test('runs above the age limit are deleted, the oldest first, to the millisecond', () => {
  const runs = [
    run('b', { agoMs: 30 * DAY_MS }),
    run('c', { agoMs: 30 * DAY_MS - 1 }),
    run('a', { agoMs: 31 * DAY_MS }),
  ];
  expect(ids(plan(runs, { olderThanMs: 30 * DAY_MS }))).toEqual(['a', 'b']);
});

test('for size, the oldest runs are deleted first, after the runs that are too old', () => {
  const runs = [1, 2, 3, 4, 5].map((days) => run(`${days} days`, { agoMs: days * DAY_MS, bytes: 100 }));
  expect(ids(plan(runs, { maxBytes: 300 }))).toEqual(['5 days', '4 days']);
  expect(ids(plan(runs, { maxBytes: 301 }))).toEqual(['5 days', '4 days']);
  expect(ids(plan(runs, { maxBytes: 500 }))).toEqual([]);
  expect(ids(plan(runs, { maxBytes: 0 }))).toHaveLength(5);
  const both = plan(runs, { maxBytes: 300, olderThanMs: 5 * DAY_MS });
  expect(both.map(({ reason }) => reason)).toEqual(['age', 'size']);
});

test('data of the store outside its runs counts toward its size', () => {
  const runs = [run('a', { agoMs: 2 * DAY_MS, bytes: 100 }), run('b', { agoMs: DAY_MS, bytes: 100 })];
  expect(ids(plan(runs, { bytes: 250, maxBytes: 200 }))).toEqual(['a']);
});

test('an open run that was active within 24 hours is kept; other open runs and ended runs are deleted', () => {
  expect(OPEN_RUN_PROTECTED_MS).toBe(DAY_MS);
  const runs = [
    run('at work', { agoMs: DAY_MS - 1, isOpen: true }),
    run('left', { agoMs: DAY_MS, isOpen: true }),
    run('ended', { agoMs: 0 }),
    run('of a clock that is ahead', { agoMs: -HOUR_MS, isOpen: true }),
  ];
  expect(ids(plan(runs, { maxBytes: 0 }))).toEqual(['left', 'ended']);
  expect(ids(plan(runs, { olderThanMs: HOUR_MS }))).toEqual(['left']);
});

test('a run without times is never too old, and is the first to be deleted for size', () => {
  const runs = [run('old', { agoMs: 90 * DAY_MS }), run('timeless', { agoMs: Infinity })];
  expect(ids(plan(runs, { olderThanMs: DAY_MS }))).toEqual(['old']);
  expect(ids(plan(runs, { maxBytes: 10 }))).toEqual(['timeless']);
});

test('a tree has the age of its latest run, and is kept if one of its runs is open or damaged', () => {
  const old = { agoMs: 40 * DAY_MS };
  const tree = (last: Omit<RunFacts, 'parent'>): readonly SizedRun[] => [
    run('parent', old),
    run('child', { ...old, parent: 'parent' }),
    run('grandchild', { ...last, parent: 'child' }),
  ];
  const limits = { olderThanMs: 30 * DAY_MS };
  expect(ids(plan(tree(old), limits))).toEqual(['grandchild', 'child', 'parent']);
  expect(ids(plan(tree({ agoMs: DAY_MS }), limits))).toEqual([]);
  expect(ids(plan(tree({ agoMs: HOUR_MS, isOpen: true }), { maxBytes: 0 }))).toEqual([]);
  expect(ids(plan(tree({ ...old, isDamaged: true }), { maxBytes: 0, olderThanMs: 1 }))).toEqual([]);
});

test('a child whose parent is not stored is a separate tree', () => {
  const runs = [run('a', { agoMs: 2 * DAY_MS, parent: 'deleted' }), run('b', { agoMs: DAY_MS, parent: 'deleted' })];
  expect(ids(plan(runs, { maxBytes: 10 }))).toEqual(['a']);
});

test('a chain of twenty thousand nested runs is one tree', () => {
  const runs = Array.from({ length: 20_000 }, (_, index) =>
    run(String(index), { agoMs: 2 * DAY_MS, ...(index > 0 && { parent: String(index - 1) }) }),
  );
  const [tree, ...others] = plan(runs, { maxBytes: 0 });
  expect([tree?.runs.length, others.length]).toEqual([20_000, 0]);
  expect(tree?.runs[0]?.summary.runId).toBe('19999');
});

/** Any runs: parents that are not there, below each other, or each other's. */
const anyRuns = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 14 }).chain((numbers) =>
  fc.tuple(
    ...numbers.map((number) =>
      fc
        .record({
          agoMs: fc.oneof(
            fc.integer({ min: -HOUR_MS, max: 60 * DAY_MS }),
            fc.constantFrom(Infinity, DAY_MS, DAY_MS - 1, 30 * DAY_MS),
          ),
          bytes: fc.integer({ min: 0, max: 500 }),
          isOpen: fc.boolean(),
          isDamaged: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
          parent: fc.option(fc.constantFrom(...numbers, 99), { nil: undefined }),
        })
        .map(({ parent, ...facts }) =>
          run(`run-${number}`, { ...facts, ...(parent !== undefined && { parent: `run-${parent}` }) }),
        ),
    ),
  ),
);

const anyLimits = fc.record(
  {
    olderThanMs: fc.constantFrom(1, HOUR_MS, DAY_MS, 30 * DAY_MS),
    maxBytes: fc.integer({ min: 0, max: 4000 }),
  },
  { requiredKeys: [] },
);

/** The runs that hang together with one, found by asking again and again for neighbours. */
function familyOf(one: SizedRun, runs: readonly SizedRun[]): ReadonlySet<SizedRun> {
  const family = new Set([one]);
  for (let size = 0; size < family.size;) {
    size = family.size;
    for (const other of runs) {
      for (const member of family) {
        const [left, right] = [other.summary, member.summary];
        if (left.parentRunId === right.runId || right.parentRunId === left.runId) family.add(other);
      }
    }
  }
  return family;
}

test('a tree is deleted as a whole, children before parents, and trees in order of last activity', () => {
  fc.assert(
    fc.property(anyRuns, anyLimits, (runs, limits) => {
      const planned = plan(runs, limits);
      for (const tree of planned) {
        const [first] = tree.runs;
        expect(new Set(tree.runs)).toEqual(first && familyOf(first, runs));
        expect(tree.bytes).toBe(sumOf(tree.runs));
        expect(tree.lastAtMs).toBe(Math.max(...tree.runs.map(({ summary }) => summary.lastAtMs)));
        const at = new Map(tree.runs.map(({ summary }, index) => [summary.runId, index]));
        // Of a circle one run comes last that has its parent before it.
        const early = tree.runs.filter(
          ({ summary }, index) => (at.get(summary.parentRunId ?? '') ?? Infinity) <= index,
        );
        expect(early.length).toBeLessThanOrEqual(1);
        expect([undefined, tree.runs.at(-1)]).toContain(early[0]);
      }
      expect(new Set(ids(planned)).size).toBe(ids(planned).length);
      const times = planned.map(({ lastAtMs }) => lastAtMs);
      expect(times).toEqual(times.toSorted((left, right) => left - right));
    }),
    { numRuns: 500 },
  );
});

test('no active or damaged run is deleted; of the others, all that are too old and only as many for size as needed', () => {
  fc.assert(
    fc.property(anyRuns, anyLimits, fc.integer({ min: 0, max: 300 }), (runs, limits, besides) => {
      const bytes = sumOf(runs) + besides;
      const planned = plan(runs, { ...limits, bytes });
      const isKept = ({ summary }: SizedRun): boolean =>
        summary.problem !== undefined ||
        (summary.outcome === undefined && summary.lastAtMs > NOW_MS - OPEN_RUN_PROTECTED_MS);
      const deleted = new Set(planned.flatMap((tree) => tree.runs));
      expect([...deleted].filter(isKept)).toEqual([]);

      const mayGo = runs.filter((one) => ![...familyOf(one, runs)].some(isKept));
      const lastOf = (one: SizedRun): number =>
        Math.max(...Array.from(familyOf(one, runs), ({ summary }) => summary.lastAtMs));
      const isOld = (one: SizedRun): boolean =>
        limits.olderThanMs !== undefined && lastOf(one) > 0 && NOW_MS - lastOf(one) >= limits.olderThanMs;
      const forAge = planned.filter(({ reason }) => reason === 'age').flatMap((tree) => tree.runs);
      expect(new Set(forAge)).toEqual(new Set(mayGo.filter(isOld)));

      const forSize = planned.filter(({ reason }) => reason === 'size');
      const left = bytes - sumOf([...deleted]);
      const most = limits.maxBytes ?? Infinity;
      // Either it fits, or nothing is left that may go; and before the last tree for size went it did not fit.
      expect(left <= most || deleted.size === mayGo.length).toBe(true);
      expect(left + (forSize.at(-1)?.bytes ?? Infinity)).toBeGreaterThan(most === Infinity ? left : most);
      const latest = forSize.at(-1)?.lastAtMs ?? -1;
      expect(mayGo.filter((one) => !deleted.has(one) && lastOf(one) < latest)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('the order of the listed runs does not matter', () => {
  fc.assert(
    fc.property(
      anyRuns.chain((runs) => fc.tuple(fc.constant(runs), fc.shuffledSubarray([...runs], { minLength: runs.length }))),
      anyLimits,
      ([runs, shuffled], limits) => {
        expect(ids(plan(shuffled, limits))).toEqual(ids(plan(runs, limits)));
      },
    ),
    { numRuns: 300 },
  );
});
