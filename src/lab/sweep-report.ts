import { present } from '../core/base/json.ts';
import { invalidArgument } from '../core/base/error.ts';
import type { PartReport, SignalReport, SweepPointReport, SweepReport } from './backtest-report.ts';
import type { Configuration } from './configuration.ts';
import { shareOf } from './statistics.ts';

/** A numeric field to vary, and its values. */
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

/**
 * Returns the points of a sweep in its first part, or undefined without a sweep.
 *
 * @param signalName the name of a provider or of a kind of pattern, or `advice`
 * @throws CoxswainError "invalid-argument" if no signal of that name fired
 */
export function sweepReport(
  configurations: readonly Configuration[],
  part: PartReport | undefined,
  signalName: string | undefined,
): SweepReport | undefined {
  const field = configurations[0]?.swept?.path;
  if (field === undefined || part === undefined) return undefined;
  const signal = signalName === undefined ? mostMoved(part) : signalNamed(part, signalName);
  return {
    field,
    signal,
    part: part.name,
    points: configurations.map(({ swept }, index) =>
      pointOf(findReport(part, index, signal), part, { value: swept?.value ?? 0, raised: swept?.raised }),
    ),
  };
}

type SignalId = SweepReport['signal'];

function allSignals(part: PartReport, index: number): readonly SignalReport[] {
  const figures = part.byConfiguration[index];
  return figures === undefined ? [] : [...figures.providers, ...figures.patterns, figures.advice];
}

function findReport(part: PartReport, index: number, { by, name }: SignalId): SignalReport | undefined {
  return allSignals(part, index).find((signal) => signal.by === by && signal.name === name);
}

function signalNamed(part: PartReport, signalName: string): SignalId {
  for (const index of part.byConfiguration.keys()) {
    const report = allSignals(part, index).find(({ name }) => name === signalName);
    if (report !== undefined) return { by: report.by, name: report.name };
  }
  const names = new Set(
    [...part.byConfiguration.keys()].flatMap((index) => allSignals(part, index).map(({ name }) => name)),
  );
  throw invalidArgument(
    `--signal ${signalName}: nothing of that name fired; there are ${[...names].sort().join(', ')}`,
  );
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
