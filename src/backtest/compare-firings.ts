import type { ComparisonReport, PlaceReport } from './backtest-report.ts';
import type { FiringKey } from './run-row.ts';

/** Maximum number of changes listed per kind of change. */
const MAX_PLACES = 50;

/** The firings in one run under two configurations. */
export interface ComparedRun {
  readonly id: string;
  /** Pairs in firing order: the index of a firing key, and a call. */
  readonly before: readonly number[];
  readonly after: readonly number[];
}

interface Counts {
  unchanged: number;
  added: number;
  removed: number;
  moved: number;
}

/**
 * Compares the advice in the same runs under two configurations. Advice of the same provider at the same call of a run is unchanged. The
 * remaining advice is paired in order and counts as moved. Advice without a partner is added or removed.
 */
export function compareFirings(runs: readonly ComparedRun[], keys: readonly FiringKey[]): ComparisonReport {
  const byProvider = new Map<string, Counts>();
  const places = {
    added: [] as PlaceReport[],
    removed: [] as PlaceReport[],
    moved: [] as PlaceReport[],
  };
  const total: Counts = { unchanged: 0, added: 0, removed: 0, moved: 0 };
  let changedRuns = 0;
  for (const run of runs) {
    const before = callsByProvider(run.before, keys);
    const after = callsByProvider(run.after, keys);
    let changed = false;
    for (const provider of [...new Set([...before.keys(), ...after.keys()])].sort()) {
      const difference = pairFirings(before.get(provider) ?? [], after.get(provider) ?? [], (call) => call);
      const counts = byProvider.get(provider) ?? { unchanged: 0, added: 0, removed: 0, moved: 0 };
      byProvider.set(provider, counts);
      for (const one of [counts, total]) {
        one.unchanged += difference.same.length;
        one.added += difference.added.length;
        one.removed += difference.removed.length;
        one.moved += difference.moved.length;
      }
      const { added, removed, moved } = difference;
      changed ||= added.length + removed.length + moved.length > 0;
      keepSome(
        places.added,
        added.map((call) => ({ run: run.id, provider, call })),
      );
      keepSome(
        places.removed,
        removed.map((call) => ({ run: run.id, provider, call })),
      );
      keepSome(
        places.moved,
        moved.map(([call, to]) => ({ run: run.id, provider, call, to })),
      );
    }
    if (changed) changedRuns += 1;
  }
  return {
    ...total,
    changedRuns,
    byProvider: [...byProvider]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([provider, { unchanged, added, removed, moved }]) => ({ provider, unchanged, added, removed, moved })),
    places,
  };
}

function keepSome(list: PlaceReport[], more: readonly PlaceReport[]): void {
  list.push(...more.slice(0, Math.max(0, MAX_PLACES - list.length)));
}

function callsByProvider(fired: readonly number[], keys: readonly FiringKey[]): ReadonlyMap<string, readonly number[]> {
  const calls = new Map<string, number[]>();
  for (let at = 0; at < fired.length; at += 2) {
    const key = keys[fired[at] ?? -1];
    if (key?.by !== 'provider') continue;
    const list = calls.get(key.name) ?? [];
    calls.set(key.name, list);
    list.push(fired[at + 1] ?? 0);
  }
  return calls;
}

/** The firings of one provider in one run under two configurations. */
export interface PairedFirings<Firing> {
  /** Pairs of firings at the same call. */
  readonly same: readonly (readonly [Firing, Firing])[];
  readonly moved: readonly (readonly [Firing, Firing])[];
  readonly removed: readonly Firing[];
  readonly added: readonly Firing[];
}

/**
 * Pairs the firings at the same call first. Then it pairs the remaining firings of both sides in order.
 *
 * @param before  sorted by call, ascending; `after` has the same order
 */
export function pairFirings<Firing>(
  before: readonly Firing[],
  after: readonly Firing[],
  callOf: (firing: Firing) => number,
): PairedFirings<Firing> {
  const same: [Firing, Firing][] = [];
  const left: Firing[] = [];
  const waiting = [...after];
  for (const firing of before) {
    const at = waiting.findIndex((other) => callOf(other) === callOf(firing));
    const [other] = at < 0 ? [] : waiting.splice(at, 1);
    if (other === undefined) left.push(firing);
    else same.push([firing, other]);
  }
  const moved = waiting.slice(0, left.length).map((other, index) => [left[index] ?? other, other] as const);
  return { same, moved, removed: left.slice(moved.length), added: waiting.slice(moved.length) };
}
