import type { ComparisonReport, PlaceReport } from './backtest-report.ts';
import type { FiringKey } from './run-row.ts';

/** Places that are listed of each kind of change. */
const MAX_PLACES = 50;

/** One run under two configurations. */
export interface ComparedRun {
  readonly id: string;
  /** Pairs of a number in the keys and a call, in the order of firing. */
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
 * What is said in the same runs under a second configuration. Within a run and a provider, pieces at the same call are
 * unchanged; of the others the first of the one side and the first of the other are one that moved, and so on; what is left
 * over is added or removed.
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
      const difference = differenceOf(before.get(provider) ?? [], after.get(provider) ?? []);
      const counts = byProvider.get(provider) ?? { unchanged: 0, added: 0, removed: 0, moved: 0 };
      byProvider.set(provider, counts);
      for (const one of [counts, total]) {
        one.unchanged += difference.unchanged;
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

interface Difference {
  readonly unchanged: number;
  readonly added: readonly number[];
  readonly removed: readonly number[];
  readonly moved: readonly (readonly [number, number])[];
}

/** @param before  calls, ascending; so is `after` */
function differenceOf(before: readonly number[], after: readonly number[]): Difference {
  const left: number[] = [];
  const waiting = [...after];
  for (const call of before) {
    const same = waiting.indexOf(call);
    if (same < 0) left.push(call);
    else waiting.splice(same, 1);
  }
  const moved = Math.min(left.length, waiting.length);
  return {
    unchanged: before.length - left.length,
    moved: left.slice(0, moved).map((call, index) => [call, waiting[index] ?? call] as const),
    removed: left.slice(moved),
    added: waiting.slice(moved),
  };
}
