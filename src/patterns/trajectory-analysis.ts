import { passOver } from '../records/pass-over.ts';
import { CoxswainError, messageOf } from '../base/error.ts';
import type { Json } from '../base/json.ts';
import { OpenCalls } from '../base/open-calls.ts';
import { RingBuffer } from '../base/ring-buffer.ts';
import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';
import type { ToolEnded, ToolStarted, TrajectoryRecord } from '../records/trajectory-record.ts';
import { FULL_ANALYSIS_RETENTION, type AnalysisRetention } from './analysis-retention.ts';
import type { DetectorFault, PendingCall, TrajectoryAnalysisSnapshot } from './analysis-snapshot.ts';
import { askedAfterPause, isLongRest } from './asked-after-pause.ts';
import { newCounters, type OwnCounters } from './counters.ts';
import { PatternBook, type PatternChange } from './pattern-book.ts';
import type { PatternDetector, PatternFold, Sighting, StepContext } from './pattern-detector.ts';
import {
  COMPARED_CALLS,
  packCall,
  recentCallOf,
  unpackCall,
  withoutComparison,
  type RecentCall,
} from './recent-call.ts';
import { makeStep, withoutCause, type Step } from './step.ts';
import type { ToolDeclarations } from '../calls/tool-semantics.ts';
import { World } from './world.ts';

/** Options of an analysis. */
export interface TrajectoryAnalysisOptions {
  readonly detectors: readonly PatternDetector[];
  /** Declarations of the host's tools. */
  readonly tools?: ToolDeclarations;
  /** Default: `FULL_ANALYSIS_RETENTION`. */
  readonly retain?: AnalysisRetention;
  /** Continues from here instead of from the start of a run. */
  readonly snapshot?: TrajectoryAnalysisSnapshot;
  /** The caller gives up the snapshot, so it is not copied. Default false. */
  readonly adopt?: boolean;
  /** Redacts the message of a detector's error before it is kept. May not throw. Default: no change. */
  readonly redact?: (text: string) => string;
}

const TASK_CHARS = 4_000;
const NO_CHANGES: readonly PatternChange[] = [];

/**
 * Analyses a run: counters, recent calls and the patterns that the detectors see. A pure fold over
 * records: time comes from the records, so a replay gives the same result.
 *
 * Cost: O(1) per record and bounded memory for any length of the run.
 */
export class TrajectoryAnalysis {
  readonly #counters: OwnCounters;
  readonly #pending: OpenCalls<PendingCall>;
  readonly #recentCalls: RingBuffer<RecentCall>;
  readonly #recentErrors: RingBuffer<RecentCall>;
  readonly #world: World;
  readonly #book: PatternBook;
  readonly #declarations: ToolDeclarations;
  readonly #folds: Map<string, PatternFold>;
  readonly #faults: DetectorFault[];
  readonly #redact: (text: string) => string;

  /**
   * @throws CoxswainError `invalid-definition` when two detectors share a name
   * @throws CoxswainError `snapshot-version` when the snapshot is of another version
   */
  constructor(options: TrajectoryAnalysisOptions) {
    // Folds change their state in place, so a snapshot that the caller keeps is copied.
    const snapshot = options.adopt === true ? options.snapshot : structuredClone(options.snapshot);
    // A stored snapshot may be of any version, whatever its type says.
    const version: number | undefined = snapshot?.schema_version;
    if (version !== undefined && version !== 6) {
      throw new CoxswainError('snapshot-version', `analysis snapshot has version ${version}, this build reads 6`);
    }
    this.#counters = snapshot === undefined ? newCounters() : { ...newCounters(), ...snapshot.counters };
    this.#pending = new OpenCalls(snapshot?.pending);
    const { recentCalls, recentErrors, closedPatterns } = options.retain ?? FULL_ANALYSIS_RETENTION;
    const [calls, failed] = [snapshot?.recentCalls ?? [], snapshot?.recentErrors ?? []];
    this.#recentCalls = RingBuffer.restore(recentCalls, calls.map(unpackCall), this.#counters.finished);
    this.#recentErrors = RingBuffer.restore(recentErrors, failed.map(unpackCall), this.#counters.errors);
    this.#world = new World(snapshot?.world);
    this.#book = new PatternBook(snapshot?.book, closedPatterns);
    this.#declarations = options.tools ?? {};
    this.#faults = [...(snapshot?.faults ?? [])];
    this.#redact = options.redact ?? ((text) => text);
    this.#folds = startFolds(options.detectors, snapshot, this.#faults);
  }

  /** Adds the next record. Never throws on a record of a known shape. */
  fold(record: TrajectoryRecord): readonly PatternChange[] {
    const at = record.recorded_at_unix_ms;
    const counters = this.#counters;
    if (at > 0) {
      if (counters.firstAtMs === 0) counters.firstAtMs = at;
      counters.lastAtMs = at;
    }
    const payload = record.payload;
    switch (payload.kind) {
      case 'run_started':
        if (payload.task !== undefined) counters.task = payload.task.slice(0, TASK_CHARS);
        return NO_CHANGES;
      case 'turn_started':
        counters.turns += 1;
        return NO_CHANGES;
      case 'message_appended':
        if (payload.message.role === 'user') this.#userSpoke();
        return NO_CHANGES;
      case 'compaction':
        counters.compactions += 1;
        return NO_CHANGES;
      case 'tool_started':
        this.#pending.begin(payload.tool_call_id, this.#begin(payload, at));
        return NO_CHANGES;
      case 'tool_ended':
        return this.#finish(payload, at);
      default:
        passOver<
          'life' | 'talk' | 'requests' | 'host' | 'patterns' | 'produced' | 'delivered' | 'asked' | 'faults' | 'unread'
        >(payload);
        return NO_CHANGES;
    }
  }

  /** Model answers so far. */
  get turns(): number {
    return this.#counters.turns;
  }
  /** Calls issued so far, including open ones. */
  get calls(): number {
    return this.#counters.calls;
  }
  /** Calls flagged as failed, by the source or inferred if it has no flag. */
  get errors(): number {
    return this.#counters.errors;
  }
  /** Failed calls since the last one that did not fail. */
  get consecutiveErrors(): number {
    return this.#counters.consecutiveErrors;
  }
  /** From the first to the last record with a time; undefined if none has one. */
  get durationMs(): number | undefined {
    return this.#counters.firstAtMs === 0 ? undefined : this.#counters.lastAtMs - this.#counters.firstAtMs;
  }
  get userMessages(): number {
    return this.#counters.userMessages;
  }
  get compactions(): number {
    return this.#counters.compactions;
  }
  /** The first 4,000 characters of the agent's task, if known. */
  get task(): string | undefined {
    return this.#counters.task ?? undefined;
  }
  /** Detectors that threw and were switched off. */
  get faults(): readonly DetectorFault[] {
    return this.#faults;
  }

  /** The last finished calls, oldest first; at most 224, or as many as are retained. */
  recentCalls(count: number = this.#recentCalls.capacity): readonly RecentCall[] {
    return this.#recentCalls.last(count);
  }
  /** The last failed calls, oldest first; at most 64, or as many as are retained. */
  recentErrors(count: number = this.#recentErrors.capacity): readonly RecentCall[] {
    return this.#recentErrors.last(count);
  }
  /** All patterns of the run by their first call; the last 200 of the cleared ones. */
  patterns(): readonly TrajectoryPattern[] {
    return this.#book.all();
  }
  /** Open patterns. */
  openPatterns(): readonly TrajectoryPattern[] {
    return this.#book.open();
  }

  /**
   * The whole state as JSON; an analysis created from it continues without a difference.
   *
   * @param shared  shares its values with this analysis, for a snapshot that is stored at once; default false
   */
  snapshot(shared = false): TrajectoryAnalysisSnapshot {
    const detectors: Record<string, Json> = {};
    for (const [name, fold] of this.#folds) detectors[name] = fold.snapshot();
    const snapshot: TrajectoryAnalysisSnapshot = {
      schema_version: 6,
      counters: this.#counters,
      pending: this.#pending.entries(),
      recentCalls: this.#recentCalls.toArray().map(packCall),
      recentErrors: this.#recentErrors.toArray().map(packCall),
      world: this.#world.snapshot(),
      book: this.#book.snapshot(),
      detectors,
      faults: this.#faults,
    };
    return shared ? snapshot : structuredClone(snapshot);
  }

  #userSpoke(): void {
    this.#counters.userMessages += 1;
    this.#world.userSpoke();
  }

  #begin(started: Pick<ToolStarted, 'tool_name' | 'args' | 'annotations'>, atMs = 0): PendingCall {
    const counters = this.#counters;
    const index = counters.calls;
    counters.calls += 1;
    if (!counters.batchOpen) counters.batches += 1;
    counters.batchOpen = true;
    // For a host that reports no turns: a call that begins after another one finished was not issued with it.
    const turn = counters.turns > 0 ? counters.turns : counters.batches;
    const { args, annotations } = started;
    const pending = annotations === undefined ? { index, turn, args } : { index, turn, args, annotations };
    const rested = isLongRest(counters.lastEndMs, atMs);
    return rested ? { ...pending, rested } : pending;
  }

  #finish(ended: ToolEnded, atMs: number): readonly PatternChange[] {
    // A result without a start is a call too.
    const call = this.#pending.end(ended.tool_call_id) ?? this.#begin({ tool_name: ended.tool_name, args: null });
    this.#counters.batchOpen = false;
    if (atMs > 0) this.#counters.lastEndMs = atMs;
    const step = makeStep(
      {
        index: call.index,
        turn: call.turn,
        atMs,
        tool: ended.tool_name,
        args: call.args,
        annotations: call.annotations,
        result: ended.result,
        isError: ended.is_error,
        resultMissing: ended.result_missing === true,
      },
      this.#declarations,
    );
    return this.#observe(step, ended.is_error, call.rested === true);
  }

  #observe(original: Step, flagged: boolean, rested: boolean): readonly PatternChange[] {
    const view = this.#world.observe(original);
    const counters = this.#counters;
    // A program may itself run that long if only its end is timed.
    const paused = counters.waited || (rested && original.kind !== 'execute');
    const polled = paused && !view.novel ? askedAfterPause(original) : original;
    const step = view.background ? withoutCause(polled) : polled;
    // A thought between a pause and the look after it does not end the pause.
    if (step.kind !== 'note') counters.waited = step.kind === 'wait';
    counters.finished += 1;
    if (!step.transparent) counters.ordinal += 1;
    if (flagged) counters.errors += 1;
    counters.consecutiveErrors = flagged ? counters.consecutiveErrors + 1 : 0;
    this.#remember(original.failure === undefined ? step : original, view.novel, flagged);
    const { epoch, advanced, novel, freshLines } = view;
    const context: StepContext = {
      epoch,
      advanced,
      novel,
      freshLines,
      ordinal: counters.ordinal,
      task: this.task,
      userMessages: counters.userMessages,
    };
    const sightings: Sighting[] = [];
    for (const [name, fold] of this.#folds) {
      try {
        const seen = fold.observe(step, context);
        if (seen !== undefined) sightings.push(...seen);
      } catch (error) {
        this.#folds.delete(name);
        this.#faults.push({ detector: name, callIndex: step.index, message: this.#redact(messageOf(error)) });
      }
    }
    return this.#book.observe(step, context, sightings);
  }

  #remember(step: Step, novel: boolean, flagged: boolean): void {
    const recent = recentCallOf(step, novel, flagged);
    this.#recentCalls.push(recent);
    const farthest = -1 - COMPARED_CALLS;
    const tooOld = this.#recentCalls.at(farthest);
    if (tooOld !== undefined) this.#recentCalls.replaceAt(farthest, withoutComparison(tooOld));
    if (!flagged) return;
    this.#recentErrors.push(withoutComparison(recent));
  }
}

function startFolds(
  detectors: readonly PatternDetector[],
  snapshot: TrajectoryAnalysisSnapshot | undefined,
  faults: readonly DetectorFault[],
): Map<string, PatternFold> {
  const folds = new Map<string, PatternFold>();
  const names = new Set<string>();
  for (const detector of detectors) {
    if (names.has(detector.name)) {
      throw new CoxswainError(
        'invalid-definition',
        `two detectors are named "${detector.name}"; give each its own name`,
      );
    }
    names.add(detector.name);
    if (faults.some((fault) => fault.detector === detector.name)) continue;
    folds.set(detector.name, detector.start(snapshot?.detectors[detector.name]));
  }
  return folds;
}
