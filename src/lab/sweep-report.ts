import { type Mutable, present } from '../core/base/json.ts';
import { callNumber } from '../core/base/number-text.ts';
import { invalidArgument } from '../core/base/error.ts';
import type {
  ChangeCounts,
  PartReport,
  SignalReport,
  SweepPointReport,
  SweepReport,
  ComparisonReport,
  PlaceReport,
} from './backtest-report.ts';
import type { Configuration } from './configuration.ts';
import { shareOf } from './statistics.ts';
import type { FiringKey } from './run-row.ts';

export interface Sweep {
  readonly field: string;
  readonly values: readonly number[];
}

const MAX_VALUES = 32;

/**
 * Parses `doomLoop.maxRepetitions=2..6`, `…=0..1/0.25` (from, to, step; default step 1) or `…=2,4,8`.
 *
 * @throws CoxswainError "invalid-argument" for any other form, or for more than 32 values
 */
export function parseSweep(text: string): Sweep {
  const [, field = '', said = ''] = /^([\w.]+)=(.+)$/.exec(text) ?? [];
  const values = valuesOf(said);
  if (field === '' || values.length === 0) {
    const forms = 'doomLoop.maxRepetitions=2..6, field=0..1/0.25 or field=2,4,8';
    throw invalidArgument(`--sweep ${text}: give a field and its values, such as ${forms}`);
  }
  if (values.length > MAX_VALUES) {
    throw invalidArgument(`--sweep ${text}: ${values.length} values; at most ${MAX_VALUES}`);
  }
  return { field, values };
}

function valuesOf(label: string): readonly number[] {
  const [, from, to, step = '1'] = /^(-?[\d.]+?)\.\.(-?\d[\d.]*)(?:\/([\d.]+))?$/.exec(label) ?? [];
  if (from === undefined || to === undefined) {
    const list = label.split(',').map((one) => (one.trim() === '' ? Number.NaN : Number(one)));
    return list.every((value) => Number.isFinite(value)) ? list : [];
  }
  const [first, last, width] = [Number(from), Number(to), Number(step)];
  if (!(width > 0) || !Number.isFinite(first) || !Number.isFinite(last)) return [];
  const count = Math.floor((last - first) / width + 1e-9) + 1;
  // Rounding to twelve digits removes the errors of adding fractions.
  return Array.from({ length: Math.max(0, Math.min(count, 1_000)) }, (_, index) =>
    Number((first + index * width).toPrecision(12)),
  );
}

/** Returns the points of a sweep in its first part for the signal that changes most, or undefined without a sweep. */
export function sweepReport(
  configurations: readonly Configuration[],
  part: PartReport | undefined,
): SweepReport | undefined {
  const field = configurations[0]?.swept?.path;
  if (field === undefined || part === undefined) return undefined;
  const signal = mostMoved(part);
  return {
    field,
    signal,
    part: part.name,
    points: configurations.map(({ swept }, index) =>
      pointOf(
        allSignals(part, index).find(({ by, name }) => by === signal.by && name === signal.name),
        part,
        { value: swept?.value ?? 0, raised: swept?.raised },
      ),
    ),
  };
}

type SignalId = SweepReport['signal'];

function allSignals(part: PartReport, index: number): readonly SignalReport[] {
  const figures = part.byConfiguration[index];
  return figures === undefined ? [] : [...figures.providers, ...figures.patterns, figures.advice];
}

/** Returns the provider whose runs change most along the sweep, or else the kind of pattern, or else all advice. */
function mostMoved(part: PartReport): SignalId {
  for (const groupKind of ['provider', 'pattern'] as const) {
    const counts = new Map<string, number[]>();
    for (const [index, figures] of part.byConfiguration.entries()) {
      for (const { name, runs } of groupKind === 'provider' ? figures.providers : figures.patterns) {
        const list = counts.get(name) ?? part.byConfiguration.map(() => 0);
        counts.set(name, list);
        list[index] = runs;
      }
    }
    const spreads = [...counts].map(([name, list]) => ({ name, spread: Math.max(...list) - Math.min(...list) }));
    spreads.sort((left, right) => right.spread - left.spread || (left.name < right.name ? -1 : 1));
    const [most] = spreads;
    if (most !== undefined && most.spread > 0) return { by: groupKind, name: most.name };
  }
  return { by: 'advice', name: 'advice' };
}

function pointOf(
  signal: SignalReport | undefined,
  part: PartReport,
  { value, raised }: { readonly value: number; readonly raised: SweepPointReport['raised'] },
): SweepPointReport {
  return {
    value,
    ...present({ raised }),
    fired: signal?.fired ?? 0,
    runs: signal?.runs ?? 0,
    precision: signal?.precision ?? shareOf(0, 0),
    recall: signal?.recall ?? shareOf(0, part.positive),
    falseRate: signal?.falseRate ?? shareOf(0, part.negative),
    f1: signal?.f1 ?? null,
  };
}

/** Maximum number of changes listed per kind of change. */
const MAX_PLACES = 50;

interface ComparedRun {
  readonly id: string;
  /** Pairs in firing order: the index of a firing key, and a call. */
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/**
 * Compares the advice in the same runs under two configurations. Advice of the same provider at the same call of a run is unchanged. The
 * remaining advice is paired in order and counts as moved. Advice without a partner is added or removed.
 */
export function compareFirings(runs: readonly ComparedRun[], keys: readonly FiringKey[]): ComparisonReport {
  const byProvider = new Map<string, Mutable<ChangeCounts>>();
  const places: Readonly<Record<keyof ComparisonReport['places'], PlaceReport[]>> = {
    added: [],
    removed: [],
    moved: [],
  };
  const total: Mutable<ChangeCounts> = { unchanged: 0, added: 0, removed: 0, moved: 0 };
  let changedRuns = 0;
  for (const run of runs) {
    const beforeByProvider = callsByProvider(run.before, keys);
    const afterByProvider = callsByProvider(run.after, keys);
    let hasChanged = false;
    for (const provider of [...new Set([...beforeByProvider.keys(), ...afterByProvider.keys()])].sort()) {
      const { same, added, removed, moved } = pairFirings(
        beforeByProvider.get(provider) ?? [],
        afterByProvider.get(provider) ?? [],
      );
      const counts = byProvider.get(provider) ?? { unchanged: 0, added: 0, removed: 0, moved: 0 };
      byProvider.set(provider, counts);
      for (const one of [counts, total]) {
        one.unchanged += same;
        one.added += added.length;
        one.removed += removed.length;
        one.moved += moved.length;
      }
      hasChanged ||= added.length + removed.length + moved.length > 0;
      const placeOf = (call: number, to?: number): PlaceReport => {
        const place = { run: run.id, provider, call: callNumber(call) };
        return to === undefined ? place : { ...place, to: callNumber(to) };
      };
      keepSome(places.added, added, (call) => placeOf(call));
      keepSome(places.removed, removed, (call) => placeOf(call));
      keepSome(places.moved, moved, ([call, to]) => placeOf(call, to));
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

function keepSome<Change>(
  list: PlaceReport[],
  changes: readonly Change[],
  placeOf: (change: Change) => PlaceReport,
): void {
  for (const change of changes.slice(0, Math.max(0, MAX_PLACES - list.length))) list.push(placeOf(change));
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

interface PairedFirings {
  /** Number of firings at the same call. */
  readonly same: number;
  readonly moved: readonly (readonly [call: number, to: number])[];
  readonly removed: readonly number[];
  readonly added: readonly number[];
}

/** Pairs the firings at the same call (ascending on both sides), then the remaining ones in order. */
function pairFirings(before: readonly number[], after: readonly number[]): PairedFirings {
  const unmatched: number[] = [];
  const remaining = [...after];
  for (const call of before) {
    const matchIndex = remaining.indexOf(call);
    if (matchIndex < 0) unmatched.push(call);
    else remaining.splice(matchIndex, 1);
  }
  const moved = remaining.slice(0, unmatched.length).map((to, index) => [unmatched[index] ?? to, to] as const);
  return {
    same: before.length - unmatched.length,
    moved,
    removed: unmatched.slice(moved.length),
    added: remaining.slice(moved.length),
  };
}
