import { present } from '../core/base/json.ts';
import type { PartFigures, SignalReport, ExamplesReport, MomentReport } from './backtest-report.ts';
import type { FiringKey } from './run-row.ts';
import { f1Of, quartilesOf, rateRatioOf, rounded, shareOf, type RunAtRisk } from './statistics.ts';
import { hashText } from '../core/base/hash.ts';

/** Maximum number of examples of each kind. Three show whether a rule is wrong and are quick to read. */
const MAX_EXAMPLES = 3;

export interface ExampleRun {
  readonly id: string;
  /** The path from which the run was read. */
  readonly source: string;
  /** Null if unknown. */
  readonly positive: boolean | null;
}

interface Ranked {
  readonly index: number;
  readonly rank: string;
}

/**
 * Selects examples of a signal's first firings, grouped by the outcome of their runs. It selects the runs with the smallest id hashes.
 * The examples are therefore spread over the whole input and are the same every time.
 *
 * @param first  for each run with a firing: its index in `runs`, and the call of its first firing
 * Cost: one hash per run with a firing.
 */
export function examplesOf(runs: readonly ExampleRun[], first: ReadonlyMap<number, number>): ExamplesReport {
  const examples = { negative: [] as Ranked[], positive: [] as Ranked[], unlabelled: [] as Ranked[] };
  for (const index of first.keys()) {
    const run = runs[index];
    if (run === undefined) continue;
    const kind = run.positive === null ? 'unlabelled' : run.positive ? 'positive' : 'negative';
    keepSmallest(examples[kind], { index, rank: hashText(run.id) });
  }
  const moments = (ranked: readonly Ranked[]): readonly MomentReport[] =>
    ranked.flatMap(({ index }) => {
      const run = runs[index];
      return run === undefined ? [] : [{ run: run.id, call: first.get(index) ?? 0, source: run.source }];
    });
  return {
    negative: moments(examples.negative),
    positive: moments(examples.positive),
    unlabelled: moments(examples.unlabelled),
  };
}

function keepSmallest(list: Ranked[], one: Ranked): void {
  const place = list.findIndex((other) => isBefore(one, other));
  list.splice(place < 0 ? list.length : place, 0, one);
  if (list.length > MAX_EXAMPLES) list.pop();
}

/** Compares by rank, then by input order. */
function isBefore(left: Ranked, right: Ranked): boolean {
  return left.rank < right.rank || (left.rank === right.rank && left.index < right.index);
}

/** One run of a part under one configuration. */
export interface MeasuredRun extends ExampleRun {
  readonly calls: number;
  /** Pairs in firing order: an index in `keys`, and a call. */
  readonly fired: readonly number[];
}

interface SignalName {
  readonly by: SignalReport['by'];
  readonly name: string;
  readonly pattern?: string | null;
  readonly point?: string;
}

interface Gathered {
  readonly signal: SignalName;
  fired: number;
  /** For each run with a firing: its index and the call of its first firing. */
  readonly first: Map<number, number>;
}

const ADVICE: SignalName = { by: 'advice', name: 'advice' };

/** Computes the figures of every signal that fired in these runs. Cost: O(n log n) in the number of runs, per signal. */
export function measureSignals(runs: readonly MeasuredRun[], keys: readonly FiringKey[]): PartFigures {
  const names = keys.map(signalsOf);
  const signals = new Map<string, Gathered>();
  const signalOf = (signal: SignalName): Gathered => {
    const id = idOf(signal);
    const entry = signals.get(id) ?? { signal, fired: 0, first: new Map<number, number>() };
    signals.set(id, entry);
    return entry;
  };
  // The row for all advice exists even if nothing fired.
  signalOf(ADVICE);
  const byKey = names.map((signalNames) => signalNames.map(signalOf));
  for (const [index, { fired }] of runs.entries()) {
    for (let pairIndex = 0; pairIndex < fired.length; pairIndex += 2) {
      const call = fired[pairIndex + 1] ?? 0;
      for (const one of byKey[fired[pairIndex] ?? -1] ?? []) {
        one.fired += 1;
        if (!one.first.has(index)) one.first.set(index, call);
      }
    }
  }
  const part = totalsOf(runs);
  const reports = [...signals.values()]
    .filter(({ fired, signal }) => fired > 0 || signal.by === 'advice')
    .map((one) => reportOf(one, runs, part))
    .sort(inOrder);
  const silentReport = reportOf({ signal: ADVICE, fired: 0, first: new Map() }, runs, part);
  return {
    advice: reports.find(({ by }) => by === 'advice') ?? silentReport,
    providers: reports.filter(({ by }) => by === 'provider'),
    details: reports.filter(({ by }) => by === 'detail'),
    patterns: reports.filter(({ by }) => by === 'pattern'),
  };
}

function signalsOf(key: FiringKey): readonly SignalName[] {
  if (key.by === 'pattern') return [{ by: 'pattern', name: key.name }];
  const { name, pattern, point } = key;
  return [ADVICE, { by: 'provider', name }, { by: 'detail', name, pattern, point }];
}

function idOf({ by, name, pattern, point }: SignalName): string {
  return JSON.stringify([by, name, pattern ?? '', point ?? '']);
}

function inOrder(left: SignalReport, right: SignalReport): number {
  const a = idOf(left);
  const b = idOf(right);
  return a < b ? -1 : a > b ? 1 : 0;
}

interface PartTotals {
  readonly calls: number;
  readonly positive: number;
  readonly negative: number;
}

function totalsOf(runs: readonly MeasuredRun[]): PartTotals {
  return {
    calls: runs.reduce((sum, { calls }) => sum + calls, 0),
    positive: runs.filter(({ positive }) => positive === true).length,
    negative: runs.filter(({ positive }) => positive === false).length,
  };
}

function reportOf({ signal, fired, first }: Gathered, runs: readonly MeasuredRun[], part: PartTotals): SignalReport {
  let positiveRuns = 0;
  let negativeRuns = 0;
  const sharesLeft: number[] = [];
  const atRisk: RunAtRisk[] = [];
  for (const [index, { calls, positive }] of runs.entries()) {
    const firstCall = first.get(index) ?? null;
    if (positive !== null && calls > 0) atRisk.push({ positive, calls, firstCall });
    if (firstCall === null) continue;
    if (positive === true) positiveRuns += 1;
    if (positive === false) negativeRuns += 1;
    if (calls > 0) sharesLeft.push(Math.max(0, (calls - firstCall - 1) / calls));
  }
  const precision = shareOf(positiveRuns, positiveRuns + negativeRuns);
  const recall = shareOf(positiveRuns, part.positive);
  return {
    by: signal.by,
    name: signal.name,
    ...present({ pattern: signal.pattern, point: signal.point }),
    fired,
    runs: first.size,
    positiveRuns,
    negativeRuns,
    unlabelledRuns: first.size - positiveRuns - negativeRuns,
    per100Calls: part.calls === 0 ? null : rounded((100 * fired) / part.calls),
    precision,
    recall,
    falseRate: shareOf(negativeRuns, part.negative),
    f1: f1Of(precision, recall),
    callsLeft: quartilesOf(sharesLeft),
    atSameCall: rateRatioOf(atRisk),
    examples: examplesOf(runs, first),
  };
}
