import { present } from '../core/base/json.ts';
import { callNumber } from '../core/base/number-text.ts';
import type {
  PartFigures,
  SignalReport,
  ExamplesReport,
  MomentReport,
  SavedReport,
  StopEarlyReport,
  StopFigures,
  StopPolicyReport,
} from './backtest-report.ts';
import type { FiringKey, RunRow } from './run-row.ts';
import { f1Of, quartilesOf, rateRatioOf, rounded, shareOf, type RunAtRisk, ratioOf } from './statistics.ts';
import { hashText } from '../core/base/hash.ts';
import { STOP_AFTER, type RunUse, type StopPoint } from './judge-gates.ts';
import type { Label } from './labels.ts';

/** Maximum number of examples of each kind. Three show whether a rule is wrong and are quick to read. */
const MAX_EXAMPLES = 3;

export interface ExampleRun {
  readonly id: string;
  readonly source: string;
  readonly positive: boolean | null;
  readonly moments?: readonly LabelledMoment[];
}

export interface LabelledMoment {
  /** 0-based. */
  readonly call: number;
  readonly positive: boolean;
}

/** The truth of a run and of its moments: each label is judged by itself. */
export function judgedTruths({ moments = [], positive }: Pick<ExampleRun, 'moments' | 'positive'>): readonly boolean[] {
  return [...(positive === null ? [] : [positive]), ...moments.map((moment) => moment.positive)];
}

interface Ranked {
  readonly index: number;
  readonly call: number;
  readonly rank: string;
}

/**
 * The runs with the smallest id hashes: spread over the input and the same every time.
 *
 * @param first  for each run with a firing: its index in `runs`, and the call
 * @param hits  the labelled moments at which it fired, which are the examples of their runs
 */
export function examplesOf(
  runs: readonly ExampleRun[],
  first: ReadonlyMap<number, number>,
  hits: ReadonlySet<LabelledMoment> = new Set(),
): ExamplesReport {
  const examples = { negative: [] as Ranked[], positive: [] as Ranked[], unlabelled: [] as Ranked[] };
  for (const [index, firstCall] of first) {
    const run = runs[index];
    if (run === undefined) continue;
    const judged = run.moments?.filter((moment) => hits.has(moment)) ?? [];
    const shown = judged.length > 0 ? judged : [{ call: firstCall, positive: run.positive }];
    for (const { call, positive } of shown) {
      const kind = positive === null ? 'unlabelled' : positive ? 'positive' : 'negative';
      keepSmallest(examples[kind], { index, call, rank: hashText(run.id) });
    }
  }
  const moments = (ranked: readonly Ranked[]): readonly MomentReport[] =>
    ranked.flatMap(({ call, index }) => {
      const run = runs[index];
      return run === undefined ? [] : [{ run: run.id, call: callNumber(call), source: run.source }];
    });
  return {
    negative: moments(examples.negative),
    positive: moments(examples.positive),
    unlabelled: moments(examples.unlabelled),
  };
}

function keepSmallest(list: Ranked[], one: Ranked): void {
  const place = list.findIndex(({ index, rank }) => one.rank < rank || (one.rank === rank && one.index < index));
  list.splice(place < 0 ? list.length : place, 0, one);
  if (list.length > MAX_EXAMPLES) list.pop();
}

export interface MeasuredRun extends ExampleRun {
  /** Source, agent and model. Runs are compared at the same call within a group. */
  readonly group: string;
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
  readonly hits: Set<LabelledMoment>;
}

const ADVICE: SignalName = { by: 'advice', name: 'advice' };

/** Computes the figures of every signal that fired in these runs. Cost: O(n log n) in the number of runs, per signal. */
export function measureSignals(runs: readonly MeasuredRun[], keys: readonly FiringKey[]): PartFigures {
  const names = keys.map(signalsOf);
  const signals = new Map<string, Gathered>();
  const signalOf = (signal: SignalName): Gathered => {
    const id = idOf(signal);
    const entry = signals.get(id) ?? {
      signal,
      fired: 0,
      first: new Map<number, number>(),
      hits: new Set<LabelledMoment>(),
    };
    signals.set(id, entry);
    return entry;
  };
  // The row for all advice exists even if nothing fired.
  signalOf(ADVICE);
  const byKey = names.map((signalNames) => signalNames.map(signalOf));
  for (const [index, { fired, moments = [] }] of runs.entries()) {
    for (let pairIndex = 0; pairIndex < fired.length; pairIndex += 2) {
      const call = fired[pairIndex + 1] ?? 0;
      for (const one of byKey[fired[pairIndex] ?? -1] ?? []) {
        one.fired += 1;
        if (!one.first.has(index)) one.first.set(index, call);
        for (const moment of moments) if (moment.call === call) one.hits.add(moment);
      }
    }
  }
  const truths = runs.flatMap(judgedTruths);
  const part: PartTotals = {
    calls: runs.reduce((sum, { calls }) => sum + calls, 0),
    positive: truths.filter((positive) => positive).length,
    negative: truths.filter((positive) => !positive).length,
  };
  const reports = [...signals.values()]
    .filter(({ fired, signal }) => fired > 0 || signal.by === 'advice')
    .map((one) => reportOf(one, runs, part))
    .sort(inOrder);
  const silentReport = reportOf({ signal: ADVICE, fired: 0, first: new Map(), hits: new Set() }, runs, part);
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

function reportOf(
  { signal, fired, first, hits }: Gathered,
  runs: readonly MeasuredRun[],
  part: PartTotals,
): SignalReport {
  let positiveRuns = 0;
  let negativeRuns = 0;
  let unlabelledRuns = 0;
  const sharesLeft: number[] = [];
  const atRisk: RunAtRisk[] = [];
  for (const [index, { calls, group, moments, positive }] of runs.entries()) {
    const firstCall = first.get(index) ?? null;
    if (positive !== null && calls > 0) atRisk.push({ positive, calls, firstCall, group });
    if (firstCall === null) continue;
    const truths = judgedTruths({ positive, ...present({ moments: moments?.filter((moment) => hits.has(moment)) }) });
    positiveRuns += truths.filter((one) => one).length;
    negativeRuns += truths.filter((one) => !one).length;
    if (truths.length === 0) unlabelledRuns += 1;
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
    unlabelledRuns,
    per100Calls: part.calls === 0 ? null : rounded((100 * fired) / part.calls),
    precision,
    recall,
    falseRate: shareOf(negativeRuns, part.negative),
    f1: f1Of(precision, recall),
    callsLeft: quartilesOf(sharesLeft),
    atSameCall: rateRatioOf(atRisk),
    examples: examplesOf(runs, first, hits),
  };
}

export interface StoppableRun {
  readonly calls: number;
  readonly use: RunUse;
  readonly positive: boolean | null;
  readonly stops: readonly StopPoint[];
}

/** Also counts the successes that a stop would end: exact, as a run is unchanged until then. Cost: O(runs × kinds). */
export function measureStops(runs: readonly StoppableRun[]): StopEarlyReport {
  const names = new Map<string, Pick<StopPolicyReport, 'kind' | 'level'>>();
  for (const { stops } of runs) for (const { kind, level } of stops) names.set(`${kind} ${level}`, { kind, level });
  const policies = [...names.values()].map((policy) => policyReport(runs, policy));
  return { after: STOP_AFTER, policies: policies.sort(inPolicyOrder) };
}

/** Orders the policy for any kind first, then by number of warned runs, then by name. */
function inPolicyOrder(one: StopPolicyReport, other: StopPolicyReport): number {
  if ((one.kind === null) !== (other.kind === null)) return one.kind === null ? -1 : 1;
  const names = [`${one.kind} ${one.level}`, `${other.kind} ${other.level}`];
  return other.warnedRuns - one.warnedRuns || ((names[0] ?? '') < (names[1] ?? '') ? -1 : 1);
}

function policyReport(
  runs: readonly StoppableRun[],
  { kind, level }: Pick<StopPolicyReport, 'kind' | 'level'>,
): StopPolicyReport {
  const points = runs.map(({ stops }) => stops.find((point) => point.kind === kind && point.level === level));
  return {
    kind,
    level,
    warnedRuns: points.filter((point) => point !== undefined).length,
    byAfter: STOP_AFTER.map((calls, index) => figuresOf(runs, points, { after: calls, index })),
  };
}

function figuresOf(
  runs: readonly StoppableRun[],
  points: readonly (StopPoint | undefined)[],
  { after, index }: { readonly after: number; readonly index: number },
): StopFigures {
  /** Returns the number of calls of the run if it is stopped at its stop point. */
  const callsAt = (runIndex: number): number => {
    const { calls = 0 } = runs[runIndex] ?? {};
    const point = points[runIndex];
    return point === undefined ? calls : Math.min(calls, point.call + 1 + after);
  };
  const isStopped = ({ calls }: StoppableRun, runIndex: number): boolean => callsAt(runIndex) < calls;
  const savedReport = (figure: keyof RunUse): SavedReport =>
    ratioOf(
      runs.flatMap((run, runIndex) => {
        const whole = run.use[figure];
        if (whole === null) return [];
        const usedUntilStop = isStopped(run, runIndex) ? (points[runIndex]?.used[index]?.[figure] ?? whole) : whole;
        return [{ part: Math.max(0, whole - usedUntilStop), whole }];
      }),
    );
  const successfulRuns = runs.filter(({ positive }) => positive === false);
  return {
    after,
    stoppedRuns: runs.filter(isStopped).length,
    calls: ratioOf(runs.map(({ calls }, runIndex) => ({ part: calls - callsAt(runIndex), whole: calls }))),
    ms: savedReport('ms'),
    tokens: savedReport('tokens'),
    costUsd: savedReport('costUsd'),
    lostSuccesses: shareOf(
      runs.filter((run, runIndex) => run.positive === false && isStopped(run, runIndex)).length,
      successfulRuns.length,
    ),
  };
}

/** The expected result of a run and of its labelled calls, and its part of the split if a label names it. */
interface RunTruth {
  readonly positive: boolean | null;
  readonly moments?: readonly LabelledMoment[];
  readonly split?: string;
}

export interface TruthSource {
  readonly kind: 'outcomes' | 'labels';
  readonly of: (row: RunRow) => RunTruth;
  /** Returns the ids of labels that matched none of the runs looked up and none of their calls, in order. */
  readonly unknownIds: () => readonly string[];
}

/** A run is positive if it recorded failure and negative if it recorded success. Otherwise it is unlabelled. */
export function truthOfOutcomes(): TruthSource {
  return {
    kind: 'outcomes',
    of: ({ success }) => ({ positive: success === null ? null : !success }),
    unknownIds: () => [],
  };
}

/** `stuck` is positive, `ok` is negative, `skip` has no effect, and recorded outcomes are ignored. `RUN@CALL` judges that call only. */
export function truthOfLabels(labels: readonly Label[]): TruthSource {
  const byRun = new Map<string, { readonly label: Label; readonly call?: number }[]>();
  const add = (run: string, label: Label, call?: number): void => {
    byRun.set(run, [...(byRun.get(run) ?? []), { label, ...present({ call }) }]);
  };
  for (const label of labels) {
    add(label.id, label);
    const [, run, call] = /^(.+)@(\d+)$/s.exec(label.id) ?? [];
    if (run !== undefined) add(run, label, Number(call) - 1);
  }
  const unknown = new Set(labels.map(({ id }) => id));
  return {
    kind: 'labels',
    of: ({ calls, id }) => {
      const own = (byRun.get(id) ?? []).filter(({ call }) => call === undefined || (call >= 0 && call < calls));
      for (const { label } of own) unknown.delete(label.id);
      const judged = own.filter(({ label }) => label.target !== 'skip');
      const runLabel = judged.find(({ call }) => call === undefined)?.label;
      return {
        positive: runLabel === undefined ? null : runLabel.target === 'stuck',
        moments: judged.flatMap(({ call, label }) =>
          call === undefined ? [] : [{ call, positive: label.target === 'stuck' }],
        ),
        ...present({ split: own.find(({ label }) => label.split !== '')?.label.split }),
      };
    },
    unknownIds: () => [...unknown],
  };
}
