import { present, type JsonObject } from '../base/json.ts';
import {
  outcomeOf,
  type RunStarted,
  type ToolEnded,
  type ToolStarted,
  type TrajectoryPayload,
  type TrajectoryRecord,
  type PatternCleared,
  type PatternFlagged,
} from '../records/trajectory-record.ts';
import { LruMap } from '../base/lru-map.ts';
import { OpenCalls } from '../base/open-calls.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { unwrapResult } from '../detect/patterns/step.ts';
import { printedIn } from '../detect/calls/shell-answer.ts';
import { LastActFold } from './last-act.ts';
import { StretchCounts } from '../base/stretch-counts.ts';
import { textOfContent } from '../records/agent-message.ts';
import type { ModelPrices } from '../records/answer-cost.ts';
import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';
import { contextAfter, type ContextSize } from './context-tokens.ts';
import { RunCounter, type RunSummary } from './run-summary.ts';
import type { DetectorFault } from '../detect/patterns/analysis-snapshot.ts';
import type { PatternDetector } from '../detect/patterns/pattern-detector.ts';
import { TrajectoryAnalysis } from '../detect/patterns/trajectory-analysis.ts';
import { AdviceOutcomeFold, type AdviceOutcome, type AdviceOutcomeOptions, type HeldAdvice } from './advice-outcome.ts';
import type { RunCall } from './run-call.ts';
import { RunningPrograms } from './background-output.ts';
import { resultText } from '../detect/calls/answer-reading.ts';
import { pressureOf, withWork, type RecentWork, type RunPressure } from './run-pressure.ts';
import {
  verdictOf,
  type LastAct,
  type LastChange,
  type LastCheck,
  type RunOutcome,
  type RunVerdict,
} from './run-verdict.ts';
import { isFlagged, type RunPatterns, type SeenPattern } from './seen-pattern.ts';
import { CheckLedger } from './check-ledger.ts';
import { WorkFold } from './run-work.ts';
import { saysTask } from './task-title.ts';
import { UsageFold, type RunUsage } from './usage-fold.ts';

const STRIP_COLUMNS = 60;
const MAX_PATTERNS = 500;
const MAX_TIMED_CALLS = 20_000;

const TASK_CHARS = 4_000;

export interface RunViewOptions {
  /** For a run without steering, such as an imported one. Default: none; the run is then not analysed. */
  readonly detectors?: readonly PatternDetector[];
  /** True to recompute the patterns of steered runs too, instead of using the recorded ones; default false. */
  readonly recompute?: boolean;
  /** False to fold only calls and usage: no checks, changes, context and advice, and no verdict. Default: true. */
  readonly hasWork?: boolean;
  readonly advice?: AdviceOutcomeOptions;
  /** Prices of models whose host does not report costs, in addition to the built-in prices. */
  readonly prices?: ModelPrices;
}

/**
 * Computes the view of one run from its records. The run may be live or stored and may come from any source. All code that
 * reads runs uses this class.
 *
 * Cost: O(1) per record, about a microsecond; with detectors, as `TrajectoryAnalysis.fold`. Memory is bounded: 512 open
 * calls, 500 patterns, 1,000 advice texts, and 60 columns of the failure histogram.
 */
export class RunView {
  readonly #counter = new RunCounter();
  readonly #openCalls = new OpenCalls<RunCall>();
  readonly #failures = new StretchCounts(STRIP_COLUMNS);
  readonly #recordedPatterns = new RecordedPatterns();
  readonly #advice: AdviceOutcomeFold;
  readonly #recompute: boolean;
  readonly #hasWork: boolean;
  readonly #usage: UsageFold;
  #context: ContextSize | undefined;
  readonly #patternCosts = new LruMap<{ readonly firstSeen: number; readonly from: number; readonly to?: number }>(
    MAX_PATTERNS,
  );
  /** The cost when the last call before a call ended, by the index of the call. */
  readonly #costsBefore = new LruMap<number, number>(MAX_PATTERNS);
  #costAtLastEnd = 0;
  #analysis: TrajectoryAnalysis | undefined;
  #runStarted: RunStarted | undefined;
  #labels: JsonObject | undefined;
  #reason: string | undefined;
  readonly #checks = new CheckLedger();
  readonly #work = new WorkFold();
  readonly #lastAct = new LastActFold();
  readonly #programs = new RunningPrograms();
  readonly #callTimes: number[] = [];
  #recent: readonly RecentWork[] = [];
  #changedPatterns: readonly TrajectoryPattern[] = [];
  #resumptions = 0;

  constructor({ advice, detectors = [], hasWork = true, prices, recompute = false }: RunViewOptions = {}) {
    this.#hasWork = hasWork;
    this.#advice = new AdviceOutcomeFold(advice);
    this.#usage = new UsageFold(prices);
    this.#recompute = recompute;
    if (detectors.length > 0) this.#analysis = new TrajectoryAnalysis({ detectors });
  }

  /** Processes the next record. Returns the call that it started or ended, if any. */
  fold(record: TrajectoryRecord): RunCall | undefined {
    const { payload } = record;
    const callsBefore = this.#counter.calls;
    this.#counter.fold(record);
    if (payload.kind === 'run_started' && payload.steering !== undefined && !this.#recompute)
      this.#analysis = undefined;
    const changes = this.#analysis?.fold(record);
    this.#changedPatterns = changes?.map(({ pattern }) => pattern) ?? recordedPatterns(payload);
    const call = this.#noteRecord(record, this.#counter.calls > callsBefore);
    if (this.#hasWork) {
      this.#lastAct.fold(record, call);
      this.#work.fold(payload, call);
      if (payload.kind === 'message_appended' && payload.message.role !== 'assistant')
        this.#checks.foldNotice(textOfContent(payload.message.content));
    }
    const { modelId } = this.#counter;
    if (this.#hasWork) this.#context = contextAfter(this.#context, payload, modelId);
    const costUsd = this.#usage.fold(payload, {
      modelId,
      format: this.#runStarted?.format,
      host: this.#runStarted?.host,
    });
    if (!this.#hasWork) return call;
    const { recorded_at_unix_ms: atMs } = record;
    if (costUsd !== undefined && atMs > 0) this.#recent = withWork(this.#recent, { atMs, costUsd, children: 0 });
    this.#advice.fold(record, { calls: this.#counter.calls, call, costUsd });
    for (const pattern of this.#changedPatterns) this.#trackPatternCost(pattern);
    return call;
  }

  get counts(): RunSummary {
    return this.#counter.summary();
  }
  get calls(): number {
    return this.#counter.calls;
  }
  /** Unix milliseconds of the latest record that has a time; 0 if no record has a time. */
  get lastAtMs(): number {
    return this.#counter.lastAtMs;
  }
  /** Undefined if the record was lost. */
  get started(): RunStarted | undefined {
    return this.#runStarted;
  }
  /** At most 4,000 characters. A greeting is no task, so the first request stands for it. */
  get task(): string | undefined {
    const task = this.started?.task === undefined ? this.counts.task : endsOf(this.started.task);
    return saysTask(task) ? task : (this.#work.firstRequest ?? task);
  }
  /** Undefined while the run is open, if it was cut off, or if it has been resumed. */
  get outcome(): RunOutcome | undefined {
    const { outcome, reward, success } = this.counts;
    if (outcome === undefined) return undefined;
    return {
      ...present({ success, reward }),
      outcome,
      ...present({ reason: this.#reason, labels: this.#labels }),
    };
  }
  /** Whether the run reached its goal, according to its records. */
  get verdict(): RunVerdict {
    return this.verdictAt(this.lastAtMs);
  }
  /** As `verdict`; a run without an end whose last record is more than six hours before `nowMs` was cut off, unless its process lives. */
  verdictAt(nowMs: number, isAlive = false): RunVerdict {
    const silentMs = this.lastAtMs === 0 ? undefined : nowMs - this.lastAtMs;
    return verdictOf(this.outcome, this.checks, { ...this.lastWork, isAlive, ...present({ silentMs }) });
  }
  /** @internal What the run did, from which `verdictAt` judges one that finished. */
  get lastWork(): LastAct {
    const { calls, errors, refused = 0 } = this.counts;
    const { changes, work } = this.#work;
    return { ...this.#lastAct.state, changes, calls, errors, refused, ...present({ plan: work.plan }) };
  }
  /** @internal What the run did last, from which `verdictAt` judges a run without an end. */
  get lastAct(): LastAct {
    return this.#lastAct.state;
  }
  /** The oldest call that the agent waits for. */
  get runningCall(): RunCall | undefined {
    return this.#lastAct.running;
  }
  /** Words that state what a run without an end waits for; empty if unknown. */
  get waitsFor(): string {
    return this.#lastAct.state.waitsFor ?? '';
  }
  /** The last result of each check (tests, types, lint, build), the latest last. */
  get checks(): readonly LastCheck[] {
    return this.#checks.checks;
  }
  /** @internal The changes that the run made to its project. */
  get work(): WorkFold {
    return this.#work;
  }
  /** @internal Start times of calls in Unix milliseconds, by call index; 0 or absent if unknown. */
  get callTimes(): readonly number[] {
    return this.#callTimes;
  }
  /**
   * @internal What a session is judged by together with its subagents, with times. `lastAct`: absent unless it started some and finished
   * with this verdict.
   */
  workAt({ answer }: RunVerdict): {
    readonly checks: readonly LastCheck[];
    readonly lastAct?: LastAct;
    readonly lastChange?: LastChange;
  } {
    const { delegated, lastChange } = this.#work.work;
    const { changes = [], ...last } = this.lastWork;
    const isJudgedAgain = delegated !== undefined && answer !== undefined;
    return {
      checks: this.checks.map((check) => this.#timed(check)),
      ...(isJudgedAgain ? { lastAct: { ...last, changes: changes.map((change) => this.#timed(change)) } } : {}),
      ...present({ lastChange: lastChange && this.#timed(lastChange) }),
    };
  }
  /** Number of times that the run was continued after an end or in another process. */
  get resumptions(): number {
    return this.#resumptions;
  }
  get lostRecords(): number {
    return this.counts.lostRecords ?? 0;
  }
  /** Calls without a result, oldest first; at most 512. */
  get openCalls(): readonly RunCall[] {
    return this.#openCalls.entries().map(([, call]) => call);
  }
  /** @internal Histogram of failures over the calls, in at most 60 stretches. */
  get failures(): StretchCounts {
    return this.#failures;
  }
  /** See `contextAfter`. */
  get context(): ContextSize | undefined {
    return this.#context;
  }

  /** What it spent in its last ten minutes, without its subagents. */
  get recent(): readonly RecentWork[] {
    return this.#recent;
  }
  /** Whether its context is nearly full, or it spends faster than sessions do. */
  get pressure(): readonly RunPressure[] {
    return pressureOf(this.#context, this.#recent, this.lastAtMs);
  }
  get usage(): RunUsage {
    return this.#usage.usage;
  }
  /** Without the totals that the host reports for the session. */
  get answersUsage(): RunUsage {
    return this.#usage.answers;
  }
  /** Returns the cost of the responses from the first call of a pattern until it cleared, or until now. Undefined if unknown. */
  costOfPattern(identity: string): number | undefined {
    const { from, to = this.#usage.costUsd } = this.#patternCosts.get(identity) ?? {};
    return from === undefined || to === undefined ? undefined : to - from;
  }
  /** The outcome of each advice text, in the order in which the advice was produced. */
  get advice(): readonly AdviceOutcome[] {
    return this.#advice.outcomes();
  }
  get heldAdvice(): { readonly first: readonly HeldAdvice[]; readonly count: number } {
    return this.#advice.held;
  }
  get adviceLeftOut(): number {
    return this.#advice.leftOut;
  }
  /** Detectors that threw when patterns were recomputed. */
  get detectorFaults(): readonly DetectorFault[] {
    return this.#analysis?.faults ?? [];
  }
  /** The recorded ones of a steered run, those of `detectors` for any other, or on request. */
  get patterns(): RunPatterns {
    if (this.#analysis === undefined) {
      return { basis: 'recorded', patterns: this.#recordedPatterns.all(), leftOut: this.#recordedPatterns.leftOut };
    }
    return { basis: 'recomputed', patterns: this.#analysis.patterns().map((pattern) => ({ pattern })), leftOut: 0 };
  }
  /** The patterns in `patterns` that the last record flagged, raised or cleared. */
  get changedPatterns(): readonly TrajectoryPattern[] {
    return this.#changedPatterns;
  }
  /** The patterns in `patterns` of level `warn` and above. */
  get flaggedPatterns(): readonly TrajectoryPattern[] {
    return this.patterns.patterns.map(({ pattern }) => pattern).filter(isFlagged);
  }
  recordedPattern(identity: string): TrajectoryPattern | undefined {
    return this.#recordedPatterns.find(identity);
  }

  /** With the time of its call, or of the first one of its task. */
  #timed<Place extends LastCheck | LastChange>(place: Place): Place {
    const from = 'taskFrom' in place ? place.taskFrom : place.number;
    return { ...place, ...present({ atMs: this.#callTimes[(from ?? place.number) - 1] || undefined }) };
  }

  #noteRecord(record: TrajectoryRecord, isNewCall: boolean): RunCall | undefined {
    const { payload, recorded_at_unix_ms: atMs, seq } = record;
    switch (payload.kind) {
      case 'run_started':
        // Earlier versions repeat this record when more data about the run becomes known.
        this.#runStarted = { ...this.#runStarted, ...payload };
        return undefined;
      case 'run_ended':
        this.#labels = payload.labels;
        this.#reason = payload.reason;
        return undefined;
      case 'run_resumed':
        this.#resumptions += 1;
        return undefined;
      case 'tool_started': {
        const call = this.#beginCall(payload, seq);
        this.#openCalls.begin(call.id, call);
        if (call.number <= MAX_TIMED_CALLS) this.#callTimes[call.number - 1] = atMs;
        return call;
      }
      case 'tool_ended':
        return this.#endCall(payload, seq, isNewCall);
      case 'pattern_flagged':
      case 'pattern_cleared':
        this.#recordedPatterns.take(payload, seq);
        return undefined;
      default:
        return undefined;
    }
  }

  #beginCall({ args, tool_call_id: id, tool_name: tool }: Omit<ToolStarted, 'kind'>, seq: number): RunCall {
    const number = this.#counter.calls;
    this.#failures.mark(number - 1, false);
    this.#costsBefore.set(number - 1, this.#costAtLastEnd);
    return { number, id, tool, args, seq, ...NOT_ENDED, ...present({ begun: this.#programs.begunBy(args) }) };
  }

  #endCall(payload: ToolEnded, seq: number, startLost: boolean): RunCall {
    const { result_missing: resultMissing = false, tool_call_id: id } = payload;
    const outcome = outcomeOf(payload);
    const failed = outcome === 'failed';
    const wasRun = failed || outcome === 'ok';
    // The counter and the matching of results use the same rule. If no new call was counted, a start exists.
    const openCall = this.#openCalls.end(id);
    const isKnown = !startLost && openCall !== undefined && openCall !== 'forgotten';
    const call = isKnown ? openCall : this.#beginCall({ ...payload, args: null }, seq);
    if (failed) this.#failures.mark(call.number - 1, true);
    this.#costAtLastEnd = this.#usage.costUsd ?? 0;
    if (this.#analysis === undefined) this.#recordedPatterns.countRepeat(call, payload);
    const analysedCall = this.#analysis?.recentCalls(1)[0];
    const ended: RunCall = {
      ...call,
      ...present({ kind: analysedCall?.kind }),
      endSeq: seq,
      startLost,
      failed,
      ...(wasRun ? {} : { outcome }),
      resultMissing,
      ...(analysedCall?.errorLine === undefined ? {} : { errorLine: analysedCall.errorLine }),
    };
    if (!resultMissing) this.#programs.note(ended, resultText(payload.result));
    if (this.#hasWork && !resultMissing && (wasRun || outcome === 'refused'))
      this.#checks.fold(ended, printedIn(payload.result), this.#runStarted?.task);
    return ended;
  }

  #trackPatternCost({ clearedAt, firstSeen, identity, level }: TrajectoryPattern): void {
    const { costUsd } = this.#usage;
    if (level === 'hint' || costUsd === undefined) return;
    const known = this.#patternCosts.get(identity);
    // A pattern that occurs again is a new pattern with its own cost.
    const from = known?.firstSeen === firstSeen ? known.from : (this.#costsBefore.get(firstSeen) ?? costUsd);
    this.#patternCosts.set(identity, { firstSeen, from, ...(clearedAt === undefined ? {} : { to: costUsd }) });
  }
}

function recordedPatterns(payload: TrajectoryPayload): readonly TrajectoryPattern[] {
  return payload.kind === 'pattern_flagged' || payload.kind === 'pattern_cleared' ? [payload.pattern] : [];
}

/** Creates the view of a run from its records in `seq` order. */
export function viewOf(records: Iterable<TrajectoryRecord>, options: RunViewOptions = {}): RunView {
  const view = new RunView(options);
  for (const record of records) view.fold(record);
  return view;
}

const NOT_ENDED = { startLost: false, failed: false, resultMissing: false } as const;
const COUNTED_KINDS: ReadonlySet<string> = new Set(['identical_call', 'repeated_error']);

/** Equal for calls with equal arguments whose results detection compares as equal. */
function callKey({ args, tool }: RunCall, { is_error, result }: ToolEnded): string {
  return `${tool} ${unwrapResult(result).answer.keyOf(is_error)} ${canonicalJson(args)}`;
}

/** Combines the records of each pattern of a run. Keeps the 500 patterns with the most recent records. */
class RecordedPatterns {
  #lastEnded: readonly [call: RunCall, end: ToolEnded] | undefined;
  /** Keys of the last call of open patterns. */
  readonly #repeated = new Map<string, string>();
  readonly #seenPatterns = new LruMap<SeenPattern>(MAX_PATTERNS);
  #leftOut = 0;

  get leftOut(): number {
    return this.#leftOut;
  }

  take({ kind, pattern }: PatternFlagged | PatternCleared, seq: number): void {
    // A pattern that occurs again has a different first call.
    const key = `${pattern.identity}\n${pattern.firstSeen}`;
    const seenBefore = this.#seenPatterns.get(key);
    if (seenBefore === undefined && this.#seenPatterns.size === MAX_PATTERNS) this.#leftOut += 1;
    const last = this.#lastEnded;
    if (kind === 'pattern_flagged' && COUNTED_KINDS.has(pattern.kind) && last !== undefined)
      this.#repeated.set(key, callKey(...last));
    else this.#repeated.delete(key);
    const flaggedSeq = seenBefore?.flaggedSeq ?? (kind === 'pattern_flagged' ? seq : undefined);
    this.#seenPatterns.set(key, {
      pattern,
      ...present({ flaggedSeq }),
      ...(kind === 'pattern_cleared' ? { clearedSeq: seq } : {}),
    });
  }

  /** An open pattern is recorded again only if its level rises. */
  countRepeat(call: RunCall, end: ToolEnded): void {
    this.#lastEnded = [call, end];
    if (this.#repeated.size === 0) return;
    const endedKey = callKey(call, end);
    for (const [key, repeatedKey] of this.#repeated) {
      const seen = this.#seenPatterns.get(key);
      if (repeatedKey !== endedKey || seen === undefined) continue;
      const { pattern } = seen;
      this.#seenPatterns.set(key, { ...seen, pattern: { ...pattern, occurrences: pattern.occurrences + 1 } });
    }
  }

  all(): readonly SeenPattern[] {
    const patterns = this.#seenPatterns.entries().map(([, pattern]) => pattern);
    return patterns.toSorted((a, b) => a.pattern.firstSeen - b.pattern.firstSeen);
  }

  find(identity: string): TrajectoryPattern | undefined {
    return this.#seenPatterns.entries().findLast(([, seen]) => seen.pattern.identity === identity)?.[1].pattern;
  }
}

/** A task of a program says at its end what tells it apart. */
function endsOf(task: string): string {
  if (task.length <= TASK_CHARS) return task;
  return `${task.slice(0, TASK_CHARS / 2).toWellFormed()}\n…\n${task
    .slice(-TASK_CHARS / 2)
    .replace(/^(?:.{0,200}\n|\S*)/, '')
    .toWellFormed()}`;
}
