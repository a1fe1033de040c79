import { CoxswainError, messageOf, invalidDefinition } from '../../base/error.ts';
import type { Json } from '../../base/json.ts';
import { hashText } from '../../base/hash.ts';
import { OpenCalls } from '../../base/open-calls.ts';
import { RingBuffer } from '../../base/ring-buffer.ts';
import type { StoredContent } from '../../records/agent-message.ts';
import {
  outcomeOf,
  type CallOutcome,
  type ToolEnded,
  type ToolStarted,
  type TrajectoryRecord,
} from '../../records/trajectory-record.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import {
  FULL_ANALYSIS_RETENTION,
  newCounters,
  type OwnCounters,
  type AnalysisRetention,
  type DetectorFault,
  type PendingCall,
  type TrajectoryAnalysisSnapshot,
} from './analysis-snapshot.ts';
import { PatternBook, type PatternChange } from './pattern-book.ts';
import {
  type PatternDetector,
  type PatternFold,
  type Sighting,
  type StepContext,
  COMPARED_CALLS,
  packCall,
  recentCallOf,
  unpackCall,
  withoutComparison,
  type RecentCall,
} from './pattern-detector.ts';
import { makeStep, withoutCause, type Step } from './step.ts';
import type { ToolDeclarations } from '../calls/tool-semantics.ts';
import { World } from './world.ts';

/** No model takes this long to issue a call, so the agent was scheduled to run again later. The value is an estimate. */
const LONG_REST_MS = 15 * 60_000;

/** The agent must have waited on purpose. Unix milliseconds; 0 if unknown. */
function isLongRest(lastEndMs: number, beganMs: number): boolean {
  return lastEndMs > 0 && beganMs - lastEndMs >= LONG_REST_MS;
}

/** A failed call stays failed, unless only the text says that a service is unreachable: it may still be starting. */
function askedAfterPause(step: Step): Step {
  const isQuestion = step.kind === 'read' || step.kind === 'unknown' || step.kind === 'execute';
  if (!isQuestion && (step.kind !== 'ui' || step.acknowledged)) return step;
  if (step.failure === undefined) return { ...step, kind: 'poll' };
  if (!step.failure.soft || step.failure.category !== 'network') return step;
  const { failure: _unreachable, ...otherFields } = step;
  return { ...otherFields, kind: 'poll' };
}

export interface TrajectoryAnalysisOptions {
  readonly detectors: readonly PatternDetector[];
  readonly tools?: ToolDeclarations;
  /** Limits on the kept history. Default: `FULL_ANALYSIS_RETENTION`. */
  readonly retain?: AnalysisRetention;
  /** Continues from this state. Default: starts a new run. */
  readonly snapshot?: TrajectoryAnalysisSnapshot;
  /** True if the caller no longer uses the snapshot, so that it need not be copied. Default: false. */
  readonly adopt?: boolean;
  /** Redacts the error message of a detector before the message is stored. Must not throw. Default: no redaction. */
  readonly redact?: (text: string) => string;
}

const TASK_CHARS = 4_000;
const NO_CHANGES: readonly PatternChange[] = [];

/**
 * Analyses a run: maintains counters, recent calls and detected patterns. Depends only on the records: times come from the
 * records, so a replay gives the same result.
 *
 * Cost: O(1) per record. Memory is bounded for runs of any length.
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
   * @throws CoxswainError `invalid-definition` if two detectors have the same name
   * @throws CoxswainError `snapshot-version` if the snapshot was written by an incompatible version
   */
  constructor(options: TrajectoryAnalysisOptions) {
    // The analysis changes its state in place, so a snapshot that the caller still uses is copied.
    const snapshot = options.adopt === true ? options.snapshot : structuredClone(options.snapshot);
    // A stored snapshot may have any version, regardless of its type.
    const version: number | undefined = snapshot?.schema_version;
    if (version !== undefined && version !== 8) {
      throw new CoxswainError('snapshot-version', `analysis snapshot has version ${version}, this build reads 8`);
    }
    this.#counters = snapshot === undefined ? newCounters() : { ...newCounters(), ...snapshot.counters };
    this.#pending = new OpenCalls(snapshot?.pending);
    const { recentCalls, recentErrors, closedPatterns } = options.retain ?? FULL_ANALYSIS_RETENTION;
    const [calls, failedCalls] = [snapshot?.recentCalls ?? [], snapshot?.recentErrors ?? []];
    this.#recentCalls = RingBuffer.restore(recentCalls, calls.map(unpackCall), this.#counters.finished);
    this.#recentErrors = RingBuffer.restore(recentErrors, failedCalls.map(unpackCall), this.#counters.errors);
    this.#world = new World(snapshot?.world);
    this.#book = new PatternBook(snapshot?.book, closedPatterns);
    this.#declarations = options.tools ?? {};
    this.#faults = [...(snapshot?.faults ?? [])];
    this.#redact = options.redact ?? ((text) => text);
    this.#folds = startFolds(options.detectors, snapshot, this.#faults);
  }

  /** Processes the next record. Never throws for a record with a known shape. */
  fold(record: TrajectoryRecord): readonly PatternChange[] {
    const atMs = record.recorded_at_unix_ms;
    const counters = this.#counters;
    const rested = isLongRest(counters.lastAtMs, atMs);
    if (atMs > 0) {
      if (counters.firstAtMs === 0) counters.firstAtMs = atMs;
      counters.lastAtMs = atMs;
    }
    const payload = record.payload;
    switch (payload.kind) {
      case 'run_started':
        if (payload.task !== undefined) counters.task = payload.task.slice(0, TASK_CHARS);
        return NO_CHANGES;
      case 'turn_started':
        counters.turns += 1;
        counters.announced = 0;
        // The next call is the first of its turn.
        counters.batchOpen = true;
        return NO_CHANGES;
      case 'message_appended':
        if (payload.message.role === 'user') this.#noteUserMessage(payload.message.content, rested);
        if (payload.message.role !== 'assistant') return NO_CHANGES;
        this.#announce(payload.message.content);
        return this.#read(payload.message.content);
      case 'compaction':
        counters.compactions += 1;
        return NO_CHANGES;
      case 'tool_started':
        this.#pending.begin(payload.tool_call_id, this.#begin(payload, atMs));
        return NO_CHANGES;
      case 'tool_ended':
        return this.#finish(payload, atMs);
      default:
        return NO_CHANGES;
    }
  }

  get turns(): number {
    return this.#counters.turns;
  }
  /** Number of issued calls, including calls without a result. */
  get calls(): number {
    return this.#counters.calls;
  }
  /** Number of failed calls, flagged or inferred without a flag. A refused or cancelled call has not failed. */
  get errors(): number {
    return this.#counters.errors;
  }
  get refusals(): number {
    return this.#counters.refused;
  }
  /** True if a call was refused since the last message of the user. */
  get refusalStands(): boolean {
    return this.#counters.refusalStands;
  }
  /** Number of failed calls since the last successful call. */
  get consecutiveErrors(): number {
    return this.#counters.consecutiveErrors;
  }
  /** Time from the first to the last record with a time; undefined if no record has a time. */
  get durationMs(): number | undefined {
    return this.#counters.firstAtMs === 0 ? undefined : this.#counters.lastAtMs - this.#counters.firstAtMs;
  }
  get userMessages(): number {
    return this.#counters.userMessages;
  }
  get compactions(): number {
    return this.#counters.compactions;
  }
  /** The first 4,000 characters of the task, if known. */
  get task(): string | undefined {
    return this.#counters.task ?? undefined;
  }
  get faults(): readonly DetectorFault[] {
    return this.#faults;
  }

  get tools(): ToolDeclarations {
    return this.#declarations;
  }

  /** Returns the most recent finished calls, oldest first. The limit is 224 or `retain.recentCalls`. */
  recentCalls(count: number = this.#recentCalls.capacity): readonly RecentCall[] {
    return this.#recentCalls.last(count);
  }
  /** Returns the most recent failed calls, oldest first. The limit is 64 or `retain.recentErrors`. */
  recentErrors(count: number = this.#recentErrors.capacity): readonly RecentCall[] {
    return this.#recentErrors.last(count);
  }
  /** Returns all open patterns and the last 200 cleared patterns, ordered by their first call. */
  patterns(): readonly TrajectoryPattern[] {
    return this.#book.all();
  }
  openPatterns(): readonly TrajectoryPattern[] {
    return this.#book.open();
  }

  /**
   * Returns the complete state as JSON. An analysis created from the snapshot continues from the same state.
   *
   * @param shared  true: the snapshot shares objects with this analysis, so it must be stored immediately; default: false
   */
  snapshot(shared = false): TrajectoryAnalysisSnapshot {
    const detectors: Record<string, Json> = {};
    for (const [name, fold] of this.#folds) detectors[name] = fold.snapshot();
    const snapshot: TrajectoryAnalysisSnapshot = {
      schema_version: 8,
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

  /** @param rested  the message came after a long rest: a schedule may ask the same on purpose */
  #noteUserMessage(content: StoredContent, rested: boolean): void {
    const counters = this.#counters;
    const lastRequest = hashText(messageText(content).slice(0, TASK_CHARS));
    if (rested || lastRequest !== counters.lastRequest) counters.requests += 1;
    counters.lastRequest = lastRequest;
    counters.userMessages += 1;
    counters.refusalStands = false;
    this.#world.noteUserMessage();
  }

  /** Calls in a message were issued together. A message after a finished call begins a turn, if the host has not. */
  #announce(content: StoredContent): void {
    const announced = typeof content === 'string' ? 0 : content.filter(({ type }) => type === 'tool_call').length;
    if (announced === 0) return;
    const counters = this.#counters;
    if (!counters.batchOpen) counters.silentTurns += 1;
    Object.assign(counters, { announced, batchOpen: true });
  }

  #begin(toolStarted: Pick<ToolStarted, 'tool_name' | 'args' | 'annotations'>, atMs = 0): PendingCall {
    const counters = this.#counters;
    const index = counters.calls;
    counters.calls += 1;
    // Unless a message announced it: a call that starts after another call finished belongs to a later turn.
    if (!counters.batchOpen && counters.announced <= 0) counters.silentTurns += 1;
    if (counters.announced > 0) counters.announced -= 1;
    counters.batchOpen = true;
    const turn = counters.turns + counters.silentTurns;
    const { args, annotations } = toolStarted;
    const pending = annotations === undefined ? { index, turn, args } : { index, turn, args, annotations };
    const isRested = isLongRest(counters.lastEndMs, atMs);
    return isRested ? { ...pending, rested: isRested } : pending;
  }

  #finish(toolEnded: ToolEnded, atMs: number): readonly PatternChange[] {
    const { tool_call_id: id, tool_name } = toolEnded;
    const open = this.#pending.end(id);
    // A result without a recorded start also counts as a call. The arguments of forgotten calls are not known to be equal.
    const { calls, silentTurns, turns } = this.#counters;
    const call: PendingCall =
      open === 'forgotten'
        ? { index: calls - 1, turn: turns + silentTurns, args: { tool_call_id: id } }
        : (open ?? this.#begin({ tool_name, args: null }));
    this.#counters.batchOpen = false;
    if (atMs > 0) this.#counters.lastEndMs = atMs;
    const step = makeStep(
      {
        index: call.index,
        turn: call.turn,
        atMs,
        tool: tool_name,
        args: call.args,
        annotations: call.annotations,
        result: toolEnded.result,
        isError: toolEnded.is_error,
        outcome: toolEnded.outcome,
        resultMissing: toolEnded.result_missing === true,
      },
      this.#declarations,
    );
    return this.#observe(step, outcomeOf(toolEnded), call.rested === true);
  }

  #read(content: StoredContent): readonly PatternChange[] {
    const text = messageText(content);
    const place = { callIndex: Math.max(0, this.#counters.calls - 1), requests: this.#counters.requests };
    const sightings = this.#ask(place.callIndex, (fold) => fold.read?.(text, place));
    return sightings.length === 0 ? NO_CHANGES : this.#book.read(sightings, place.callIndex);
  }

  /** Asks each detector for its sightings. A detector that throws is disabled. */
  #ask(callIndex: number, ask: (fold: PatternFold) => readonly Sighting[] | undefined): readonly Sighting[] {
    const sightings: Sighting[] = [];
    for (const [name, fold] of this.#folds) {
      try {
        const newSightings = ask(fold);
        if (newSightings !== undefined) sightings.push(...newSightings);
      } catch (error) {
        this.#folds.delete(name);
        this.#faults.push({ detector: name, callIndex, message: this.#redact(messageOf(error)) });
      }
    }
    return sightings;
  }

  #observe(original: Step, outcome: CallOutcome, rested: boolean): readonly PatternChange[] {
    const view = this.#world.observe(original);
    const counters = this.#counters;
    // If only the end is timed, the program itself may have run that long.
    const hasPaused = counters.waited || (rested && original.kind !== 'execute');
    const correctedStep = hasPaused && !view.novel ? askedAfterPause(original) : original;
    const step = view.background ? withoutCause(correctedStep) : correctedStep;
    // A note between a pause and the following read does not end the pause.
    if (step.kind !== 'note') counters.waited = step.kind === 'wait';
    counters.finished += 1;
    if (!step.transparent) counters.ordinal += 1;
    if (outcome === 'failed') counters.consecutiveErrors += 1;
    else if (outcome === 'ok') counters.consecutiveErrors = 0;
    if (outcome === 'failed') counters.errors += 1;
    if (outcome === 'refused') [counters.refused, counters.refusalStands] = [counters.refused + 1, true];
    this.#remember(original.failure === undefined ? step : original, view.novel, outcome === 'failed');
    const { ordinal, userMessages } = counters;
    const context: StepContext = { ...view, ordinal, task: this.task, userMessages };
    const sightings = this.#ask(step.index, (fold) => fold.observe(step, context));
    return this.#book.observe(step, context, sightings);
  }

  #remember(step: Step, novel: boolean, flagged: boolean): void {
    const call = recentCallOf(step, novel, flagged);
    this.#recentCalls.push(call);
    const lastComparedIndex = -1 - COMPARED_CALLS;
    const expiredCall = this.#recentCalls.at(lastComparedIndex);
    if (expiredCall !== undefined) this.#recentCalls.replaceAt(lastComparedIndex, withoutComparison(expiredCall));
    if (!flagged) return;
    this.#recentErrors.push(withoutComparison(call));
  }
}

/** The text and the visible thinking of a message. */
function messageText(content: StoredContent): string {
  if (typeof content === 'string') return content;
  const texts = content.flatMap((block) => (block.type === 'text' || block.type === 'reasoning' ? block.text : []));
  return texts.join('\n\n');
}

function startFolds(
  detectors: readonly PatternDetector[],
  snapshot: TrajectoryAnalysisSnapshot | undefined,
  faults: readonly DetectorFault[],
): Map<string, PatternFold> {
  const folds = new Map<string, PatternFold>();
  const names = new Set<string>();
  for (const detector of detectors) {
    if (names.has(detector.name))
      throw invalidDefinition(`two detectors are named "${detector.name}"; give each its own name`, {});
    names.add(detector.name);
    if (faults.some((fault) => fault.detector === detector.name)) continue;
    folds.set(detector.name, detector.start(snapshot?.detectors[detector.name]));
  }
  return folds;
}
