import { waitText } from '../records/host-notes.ts';
import { present } from '../base/present.ts';
import { passOver } from '../records/pass-over.ts';
import type { JsonObject } from '../base/json.ts';
import { LruMap } from '../base/lru-map.ts';
import { OpenCalls } from '../base/open-calls.ts';
import { checkCommandOf } from '../calls/check-command.ts';
import { StretchCounts } from '../base/stretch-counts.ts';
import { answerCost, type ModelPrices } from '../records/answer-cost.ts';
import { MODEL_PRICES } from '../records/model-prices.ts';
import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';
import type {
  RunStarted,
  ToolEnded,
  ToolStarted,
  TrajectoryPayload,
  TrajectoryRecord,
} from '../records/trajectory-record.ts';
import { RunCounter, type RunSummary } from '../store/run-summary.ts';
import type { DetectorFault } from '../patterns/analysis-snapshot.ts';
import type { PatternDetector } from '../patterns/pattern-detector.ts';
import { TrajectoryAnalysis } from '../patterns/trajectory-analysis.ts';
import { AdviceOutcomeFold, type AdviceOutcome, type AdviceOutcomeOptions } from './advice-outcome.ts';
import { RecordedPatterns } from './recorded-patterns.ts';
import type { RunCall } from './run-call.ts';
import { verdictOf, type LastCheck, type RunOutcome, type RunVerdict } from './run-verdict.ts';
import { isFlagged, type RunPatterns } from './seen-pattern.ts';

const STRIP_COLUMNS = 60;
const MAX_CHECKS = 16;
/** Patterns whose cost is kept. */
const MAX_PATTERNS = 500;

/** How a run is read. */
export interface RunViewOptions {
  /**
   * Finds the patterns of a run without steering, which has none on record, such as an imported one. Default: none, and no
   * analysis is made.
   */
  readonly detectors?: readonly PatternDetector[];
  /** Finds the patterns of a steered run too, in place of those on record; default false. */
  readonly recompute?: boolean;
  /** How the outcome of advice is measured. */
  readonly advice?: AdviceOutcomeOptions;
  /** What models cost, for answers whose cost the host does not state, in place of the built-in prices of those models. */
  readonly prices?: ModelPrices;
}

/** What the answers of the model took. A member is absent where nothing is known. */
export interface RunUsage {
  readonly tokens?: number;
  /** Read from or written to the model's cache. Anthropic counts them beside `tokens`, OpenAI within. */
  readonly cacheTokens?: number;
  /** As the host states it, else by the prices of models; over the answers of which it is known. */
  readonly costUsd?: number;
  /** Answers that count tokens and whose cost is not known; absent where there are none. */
  readonly answersWithoutCost?: number;
}

/**
 * What the records of one run say, folded record by record: the one way to read a run, live or stored, from any source.
 *
 * Cost: O(1) a record, where nothing is analysed about a microsecond; with detectors, as `TrajectoryAnalysis.fold`. Memory does not
 * grow with the run: 512 open calls, 500 patterns, 1,000 pieces of advice, 60 columns of a strip.
 */
export class RunView {
  readonly #counter = new RunCounter();
  readonly #open = new OpenCalls<RunCall>();
  readonly #failures = new StretchCounts(STRIP_COLUMNS);
  readonly #recorded = new RecordedPatterns();
  readonly #advice: AdviceOutcomeFold;
  readonly #recompute: boolean;
  readonly #prices: ModelPrices;
  #answersWithoutCost = 0;
  readonly #patternCosts = new LruMap<{ readonly from: number; readonly to?: number }>(MAX_PATTERNS);
  #analysis: TrajectoryAnalysis | undefined;
  #started: RunStarted | undefined;
  #labels: JsonObject | undefined;
  #reason: string | undefined;
  readonly #checks = new LruMap<LastCheck>(MAX_CHECKS);
  #tokens: number | undefined;
  #cacheTokens: number | undefined;
  #costUsd: number | undefined;
  /** As the host has added it up, over the whole session. */
  #sessionCostUsd: number | undefined;
  #waitsFor: string | undefined;
  #changed: readonly TrajectoryPattern[] = [];
  #resumptions = 0;
  #lostRecords = 0;
  #lostStarts = 0;
  #missingResults = 0;

  constructor({ advice, detectors = [], prices, recompute = false }: RunViewOptions = {}) {
    this.#advice = new AdviceOutcomeFold(advice);
    this.#prices = prices === undefined ? MODEL_PRICES : { ...MODEL_PRICES, ...prices };
    this.#recompute = recompute;
    if (detectors.length > 0) this.#analysis = new TrajectoryAnalysis({ detectors });
  }

  /**
   * Takes the next record.
   *
   * @returns the call that it began or ended, where it did
   */
  fold(record: TrajectoryRecord): RunCall | undefined {
    const { payload } = record;
    const callsBefore = this.#counter.calls;
    this.#counter.fold(record);
    if (payload.kind === 'run_started' && payload.steering !== undefined && !this.#recompute)
      this.#analysis = undefined;
    const changes = this.#analysis?.fold(record);
    this.#changed = changes?.map(({ pattern }) => pattern) ?? recordedPatterns(payload);
    const call = this.#take(record, this.#counter.calls > callsBefore);
    this.#advice.fold(record, { calls: this.#counter.calls, call, costUsd: this.#used(payload) });
    for (const pattern of this.#changed) this.#price(pattern);
    return call;
  }

  /** Ids, times, counts and the outcome, as a list of runs shows them. */
  get counts(): RunSummary {
    return this.#counter.summary();
  }
  get calls(): number {
    return this.#counter.calls;
  }
  /** Unix milliseconds of the latest record that has a time; 0 where none has. */
  get lastAtMs(): number {
    return this.#counter.lastAtMs;
  }
  /** What the run began with; undefined where that was lost. */
  get started(): RunStarted | undefined {
    return this.#started;
  }
  /** How the run ended; undefined while it is open, or when it was cut off or resumed since. */
  get outcome(): RunOutcome | undefined {
    const { outcome, reward, success } = this.counts;
    if (outcome === undefined) return undefined;
    return {
      ...present({ success, reward }),
      outcome,
      ...present({ reason: this.#reason, labels: this.#labels }),
    };
  }
  /** Whether the run did what it was for, as far as its records say. */
  get verdict(): RunVerdict {
    return verdictOf(this.outcome, this.checks, this.#waitsFor);
  }
  /** What a run without an end waits for, in words; empty where nothing is known of that. */
  get waitsFor(): string {
    return this.#waitsFor ?? '';
  }
  /** The last result of each check: tests, types, lint, build; the latest last. */
  get checks(): readonly LastCheck[] {
    return this.#checks.entries().map(([, check]) => check);
  }
  /** How often the run went on after an end, or in another process. */
  get resumptions(): number {
    return this.#resumptions;
  }
  /** Records that gaps stand for. */
  get lostRecords(): number {
    return this.#lostRecords;
  }
  /** Calls whose start was lost. */
  get lostStarts(): number {
    return this.#lostStarts;
  }
  /** Calls whose source holds no result and says so; `openCalls` has those that merely have none yet. */
  get missingResults(): number {
    return this.#missingResults;
  }
  /** Calls without a result so far, the first one first; 512 at most. */
  get openCalls(): readonly RunCall[] {
    return this.#open.entries().map(([, call]) => call);
  }
  /** Failures along the calls, in 60 stretches at most. */
  get failures(): StretchCounts {
    return this.#failures;
  }
  get usage(): RunUsage {
    return {
      ...present({
        tokens: this.#tokens,
        cacheTokens: this.#cacheTokens,
        costUsd: this.#sessionCostUsd ?? this.#costUsd,
      }),
      ...(this.#answersWithoutCost === 0 ? {} : { answersWithoutCost: this.#answersWithoutCost }),
    };
  }
  /** Cost of the answers from the flag of a pattern until it was left, or until now; undefined where it is not known. */
  costOfPattern(identity: string): number | undefined {
    const { from, to = this.#costUsd } = this.#patternCosts.get(identity) ?? {};
    return from === undefined || to === undefined ? undefined : to - from;
  }
  /** What came of each piece of advice, in the order in which they were produced. */
  get advice(): readonly AdviceOutcome[] {
    return this.#advice.outcomes();
  }
  /** Pieces of advice beyond those that are kept. */
  get adviceLeftOut(): number {
    return this.#advice.leftOut;
  }
  /** Detectors that threw when patterns were recomputed. */
  get detectorFaults(): readonly DetectorFault[] {
    return this.#analysis?.faults ?? [];
  }
  /** Those on record for a run that coxswain steered; recomputed ones for any other run, or where that was asked for. */
  get patterns(): RunPatterns {
    if (this.#analysis === undefined) {
      return { basis: 'recorded', patterns: this.#recorded.all(), leftOut: this.#recorded.leftOut };
    }
    return { basis: 'recomputed', patterns: this.#analysis.patterns().map((pattern) => ({ pattern })), leftOut: 0 };
  }
  /** Of `patterns`, those that the last record noticed, raised or cleared. */
  get changedPatterns(): readonly TrajectoryPattern[] {
    return this.#changed;
  }
  /** Of `patterns`, those from `warn` up. */
  get flaggedPatterns(): readonly TrajectoryPattern[] {
    return this.patterns.patterns.map(({ pattern }) => pattern).filter(isFlagged);
  }
  /** The latest pattern on record of that identity. */
  recordedPattern(identity: string): TrajectoryPattern | undefined {
    return this.#recorded.find(identity);
  }

  #take(record: TrajectoryRecord, isNewCall: boolean): RunCall | undefined {
    const { payload, seq } = record;
    switch (payload.kind) {
      case 'run_started':
        // Records of earlier versions say it again whenever more became known of the run.
        this.#started = { ...this.#started, ...payload };
        return undefined;
      case 'run_ended':
        this.#labels = payload.labels;
        this.#reason = payload.reason;
        this.#sessionCostUsd = payload.usage?.cost_usd ?? this.#sessionCostUsd;
        return undefined;
      case 'session_event':
        this.#waitsFor = waitText(payload) ?? this.#waitsFor;
        return undefined;
      case 'run_resumed':
        this.#resumptions += 1;
        return undefined;
      case 'gap':
        this.#lostRecords += Math.max(0, payload.through_seq - seq) + 1;
        return undefined;
      case 'message_appended':
        this.#waitsFor = undefined;
        return undefined;
      case 'tool_started': {
        const call = this.#begun(payload, seq);
        this.#open.begin(call.id, call);
        return call;
      }
      case 'tool_ended':
        return this.#ended(payload, seq, isNewCall);
      case 'pattern_flagged':
      case 'pattern_cleared':
        this.#recorded.take(payload, seq);
        return undefined;
      default:
        passOver<'talk' | 'requests' | 'host' | 'produced' | 'delivered' | 'asked' | 'faults' | 'unread'>(payload);
        return undefined;
    }
  }

  #begun({ args, tool_call_id: id, tool_name: tool }: Omit<ToolStarted, 'kind'>, seq: number): RunCall {
    const number = this.#counter.calls;
    this.#failures.mark(number - 1, false);
    return { number, id, tool, args, seq, startLost: false, failed: false, resultMissing: false };
  }

  #ended(ended: ToolEnded, seq: number, startLost: boolean): RunCall {
    const { is_error: failed, result_missing: resultMissing = false, tool_call_id: id } = ended;
    this.#waitsFor = undefined;
    // Both join by one rule, so there is a call here exactly where no new one was counted.
    const open = this.#open.end(id);
    const begun = startLost || open === undefined ? this.#begun({ ...ended, args: null }, seq) : open;
    if (startLost) this.#lostStarts += 1;
    if (resultMissing) this.#missingResults += 1;
    if (failed) this.#failures.mark(begun.number - 1, true);
    const read = this.#analysis?.recentCalls(1)[0];
    const check = checkCommandOf(begun.args);
    if (check !== undefined && !resultMissing) {
      const { command, key } = check;
      this.#checks.set(key, { command, number: begun.number, failed: failed || read?.errorLine !== undefined });
    }
    return {
      ...begun,
      ...present({ kind: read?.kind }),
      endSeq: seq,
      startLost,
      failed,
      resultMissing,
      ...(read?.errorLine === undefined ? {} : { errorLine: read.errorLine }),
    };
  }

  #price({ clearedAt, identity, level }: TrajectoryPattern): void {
    if (level === 'hint' || this.#costUsd === undefined) return;
    const { from = this.#costUsd, to } = this.#patternCosts.get(identity) ?? {};
    // A pattern that comes back is another one: what it cost before is not its.
    if (clearedAt !== undefined) this.#patternCosts.set(identity, { from, to: this.#costUsd });
    else this.#patternCosts.set(identity, { from: to === undefined ? from : this.#costUsd });
  }

  /** @returns what the answer cost, where that is known */
  #used(payload: TrajectoryPayload): number | undefined {
    if (payload.kind !== 'message_appended' || payload.message.role !== 'assistant') return undefined;
    const { model_id: modelId = this.counts.modelId, usage } = payload.message;
    if (usage === undefined) return undefined;
    const { input_tokens: input, output_tokens: output } = usage;
    const { cache_read_tokens: read, cache_write_tokens: written } = usage;
    if (read !== undefined || written !== undefined)
      this.#cacheTokens = (this.#cacheTokens ?? 0) + (read ?? 0) + (written ?? 0);
    const costUsd = answerCost(usage, modelId, this.#prices);
    if (input !== undefined || output !== undefined) {
      this.#tokens = (this.#tokens ?? 0) + (input ?? 0) + (output ?? 0);
      if (costUsd === undefined) this.#answersWithoutCost += 1;
    }
    if (costUsd !== undefined) this.#costUsd = (this.#costUsd ?? 0) + costUsd;
    return costUsd;
  }
}

function recordedPatterns(payload: TrajectoryPayload): readonly TrajectoryPattern[] {
  return payload.kind === 'pattern_flagged' || payload.kind === 'pattern_cleared' ? [payload.pattern] : [];
}

/** The view of a run whose records are at hand, in `seq` order. */
export function viewOf(records: Iterable<TrajectoryRecord>, options: RunViewOptions = {}): RunView {
  const view = new RunView(options);
  for (const record of records) view.fold(record);
  return view;
}
