import type { FiringKey } from './run-row.ts';
import type { ComparisonReport, PlaceReport } from './backtest-report.ts';

/** Maximum number of changes listed per kind of change. */
const MAX_PLACES = 50;

/** The firings in one run under two configurations. */
interface ComparedRun {
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
    const beforeByProvider = callsByProvider(run.before, keys);
    const afterByProvider = callsByProvider(run.after, keys);
    let hasChanged = false;
    for (const provider of [...new Set([...beforeByProvider.keys(), ...afterByProvider.keys()])].sort()) {
      const difference = pairFirings(
        beforeByProvider.get(provider) ?? [],
        afterByProvider.get(provider) ?? [],
        (call) => call,
      );
      const counts = byProvider.get(provider) ?? { unchanged: 0, added: 0, removed: 0, moved: 0 };
      byProvider.set(provider, counts);
      for (const one of [counts, total]) {
        one.unchanged += difference.same.length;
        one.added += difference.added.length;
        one.removed += difference.removed.length;
        one.moved += difference.moved.length;
      }
      const { added, removed, moved } = difference;
      hasChanged ||= added.length + removed.length + moved.length > 0;
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
    if (hasChanged) changedRuns += 1;
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

function keepSome(list: PlaceReport[], changes: readonly PlaceReport[]): void {
  list.push(...changes.slice(0, Math.max(0, MAX_PLACES - list.length)));
}

function callsByProvider(pairs: readonly number[], keys: readonly FiringKey[]): ReadonlyMap<string, readonly number[]> {
  const calls = new Map<string, number[]>();
  for (let index = 0; index < pairs.length; index += 2) {
    const key = keys[pairs[index] ?? -1];
    if (key?.by !== 'provider') continue;
    const list = calls.get(key.name) ?? [];
    calls.set(key.name, list);
    list.push(pairs[index + 1] ?? 0);
  }
  return calls;
}

/** The firings of one provider in one run under two configurations. */
interface PairedFirings<Firing> {
  /** Pairs of firings at the same call. */
  readonly same: readonly (readonly [Firing, Firing])[];
  readonly moved: readonly (readonly [Firing, Firing])[];
  readonly removed: readonly Firing[];
  readonly added: readonly Firing[];
}

/**
 * Pairs the firings at the same call first. Then it pairs the remaining firings of both sides in order.
 *
 * @param beforeFirings  sorted by call, ascending; `afterFirings` has the same order
 */
function pairFirings<Firing>(
  beforeFirings: readonly Firing[],
  afterFirings: readonly Firing[],
  callOf: (firing: Firing) => number,
): PairedFirings<Firing> {
  const matchedPairs: [Firing, Firing][] = [];
  const unmatched: Firing[] = [];
  const remaining = [...afterFirings];
  for (const firing of beforeFirings) {
    const matchIndex = remaining.findIndex((other) => callOf(other) === callOf(firing));
    const [other] = matchIndex < 0 ? [] : remaining.splice(matchIndex, 1);
    if (other === undefined) unmatched.push(firing);
    else matchedPairs.push([firing, other]);
  }
  const movedPairs = remaining
    .slice(0, unmatched.length)
    .map((other, index) => [unmatched[index] ?? other, other] as const);
  return {
    same: matchedPairs,
    moved: movedPairs,
    removed: unmatched.slice(movedPairs.length),
    added: remaining.slice(movedPairs.length),
  };
}
