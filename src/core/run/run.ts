import { statedOutcome } from './refusal.ts';
import { present, isJsonObject, type Json } from '../base/json.ts';
import { type AdviceHandle, deliverAdvice, adviceHandleOf } from './advice-handle.ts';
import type { BudgetUsage } from '../base/budget.ts';
import type { TimeSpan } from '../base/deadline.ts';
import { messageOf } from '../base/error.ts';
import type { AgentMessage } from '../records/agent-message.ts';
import type { AgentEnding, AgentEvent } from '../records/agent-event.ts';
import { checkPrompt, type ChildOptions } from './run-options.ts';
import { type AdviseContext, evaluationPayload } from './evaluation-payload.ts';
import type { DecisionPoint } from '../records/spoken-advice.ts';
import type { CallOutcome, RunStarted, TrajectoryPayload } from '../records/trajectory-record.ts';
import { readAdviceAnswer, type AcknowledgeOutcome, type AdviceAnswer } from '../steering/feedback/acknowledge.ts';
import { Acknowledgement } from '../steering/feedback/advice-slices.ts';
import { type HoldoutArm, silenceReason, unitOf } from '../steering/holdout.ts';
import type { StopRequest } from '../steering/stop-policy.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import type { EmitAnswer, EndAnswer, FlushAnswer, TimeLimit } from '../recorder/record-queue-options.ts';
import type { RunLogIdentity } from '../recorder/run-log.ts';
import { toPayload, unknownType } from '../recorder/to-payload.ts';
import type { Heritage } from './inherit.ts';
import { LastWords, type EndListener } from './last-words.ts';
import type { EventSink } from './listeners.ts';
import type { FamilyMember, RunFamily } from './run-family.ts';
import { type RunPathParts, RunPath } from './run-path.ts';
import { storedDeadline, toStoredBudget } from './run-situation.ts';
import type { RunFold, RunFoldSnapshot } from './run-fold.ts';
import type { EventInput } from '../session/define-event.ts';
import type { Session, SnapshotOptions } from '../session/session.ts';
import type { ModelGuidanceConfig } from '../steering/steering-options.ts';
import type { TrajectoryAnalysis } from '../detect/patterns/trajectory-analysis.ts';
import { adviceOf, type DerivedPayload } from '../records/derived-payload.ts';
import { askModel, type ModelAnswer } from '../steering/guidance/model-classifier.ts';
import { Filesystem } from '../steering/prompt/prompt-resources.ts';

interface AdvicePointsParts extends Pick<RunParts, 'log' | 'fold' | 'mode' | 'models' | 'providerTimeLimitMs'> {
  readonly path: RunPath;
  readonly family: RunFamily;
  readonly isEnded: () => boolean;
}

class AdvicePoints {
  readonly #parts: AdvicePointsParts;
  readonly #overruns: { readonly provider: string; readonly durationMs: number }[] = [];

  constructor(parts: AdvicePointsParts) {
    this.#parts = parts;
    parts.fold.onOverrun = (provider, durationMs) => this.#overruns.push({ provider, durationMs });
  }

  advise(point: DecisionPoint, context: AdviseContext): readonly AdviceHandle[] {
    const handles = this.#evaluatePoint(point, context);
    this.#askModels(point);
    return handles;
  }

  #evaluatePoint(point: DecisionPoint, context: AdviseContext): readonly AdviceHandle[] {
    const { family, fold, log, mode, path, providerTimeLimitMs: limit_ms } = this.#parts;
    const payload = evaluationPayload(point, context, { files: this.#filesCreated(), shared: family.shared });
    const derivedPayloads: DerivedPayload[] = [];
    const record = log.stamp(payload);
    path.process(record, derivedPayloads);
    for (const { provider, durationMs } of this.#overruns.splice(0)) {
      path.take({ kind: 'provider_overran', provider_name: provider, duration_ms: durationMs, limit_ms });
    }
    // Deliveries are recorded even after the end, because the last advice of a run may be delivered late.
    const takeDelivery = (delivery: TrajectoryPayload): void => void path.take(delivery);
    return derivedPayloads.flatMap((item) => {
      const handle = adviceHandleOf(item, point, record.recorded_at_unix_ms, takeDelivery);
      if (handle === undefined) return [];
      const draw = { runId: log.identity.runId, unit: drawnUnit(item, fold) };
      const reason = silenceReason(mode, fold.situation.holdout, draw);
      if (reason !== undefined) handle.undelivered(reason);
      return reason === undefined ? [handle] : [];
    });
  }

  /** Returns the watched files that exist. They are read outside the folds, because a replay cannot read them. */
  #filesCreated(): readonly string[] {
    const { fold } = this.#parts;
    const filesystem = fold.prompt.resources.getOptional(Filesystem);
    return filesystem === undefined ? [] : fold.watchedFiles.filter((path) => filesystem.exists(path));
  }

  #askModels(point: DecisionPoint): void {
    const { fold, models } = this.#parts;
    for (const { bank, classifier, decisionPoints, timeLimitMs } of models) {
      if (!decisionPoints.includes(point)) continue;
      const limits = { bank, redact: fold.redactWords, ...present({ timeLimitMs }) };
      void askModel(classifier, fold.guidanceContext(point), limits).then((answer) =>
        this.#takeModelAnswer(classifier.name, answer),
      );
    }
  }

  #takeModelAnswer(classifier_name: string, answer: ModelAnswer): void {
    if (this.#parts.isEnded() || answer.kind === 'none') return;
    const result =
      answer.kind === 'verdict'
        ? { instruction_id: answer.verdict.instructionId, confidence: answer.verdict.confidence }
        : { fault_code: answer.fault.code, fault_message: answer.fault.message };
    this.#parts.path.take({ kind: 'model_answered', classifier_name, ...result });
  }
}

function drawnUnit(item: DerivedPayload, { analysis, situation: { stretch } }: RunFold): string {
  const advice = adviceOf(item);
  const identity = advice?.pattern?.identity;
  // The most recent occurrence is the last one.
  const pattern = identity === undefined ? undefined : analysis.patterns().findLast((one) => one.identity === identity);
  const providerName = 'provider_name' in item ? item.provider_name : '';
  const speaker = advice?.speaker ?? 'guidance';
  return unitOf({ providerName, speaker, ...present({ pattern, stretch }) });
}

/** The state of a run as JSON, for `cox.restoreRun(snapshot)`. */
export interface RunSnapshot {
  readonly schema_version: 1;
  readonly identity: RunLogIdentity;
  readonly next_seq: number;
  readonly ended: boolean;
  readonly fold: RunFoldSnapshot;
}

/** @internal */
export interface RunParts extends Omit<RunPathParts, 'family'> {
  readonly models: readonly ModelGuidanceConfig[];
  readonly providerTimeLimitMs: number;
  readonly flush: (limit?: TimeLimit) => Promise<FlushAnswer>;
  readonly ready: (limit?: TimeLimit) => Promise<boolean>;
  readonly durableSeq: () => number;
  /** Undefined without a store. */
  readonly lostRecords: () => number | undefined;
  readonly startChild: (options: ChildOptions) => Run;
  readonly family: (member: FamilyMember) => RunFamily;
  readonly children?: ChildOptions['children'];
  readonly onResumed: () => void;
  readonly onDelta: (event: AgentEvent) => void;
  readonly listen: (sink: EventSink) => () => void;
  readonly ended?: boolean;
  /** True if other processes may have this run open. */
  readonly isShared: boolean;
}

/**
 * One run of an agent. It records and analyses events, and returns advice on request. Every method except `ready`, `flush`
 * and `end` is synchronous. No method throws because of a fault in a provider, store or detector.
 */
export class Run {
  readonly #parts: RunParts;
  readonly #fold: RunFold;
  /** @internal */
  readonly family: RunFamily;
  readonly #path: RunPath;
  readonly #lastWords = new LastWords((error) => this.#path.fault('closing', error));
  readonly #points: AdvicePoints;
  #ended: boolean;

  /** @internal Use `cox.startRun()`. */
  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#fold = parts.fold;
    this.#ended = parts.ended ?? false;
    this.family = parts.family({
      followDeadline: (atMs) => this.#followDeadline(atMs),
      childEnded: (childRunId, usage) => this.childEnded(childRunId, usage),
    });
    this.#path = new RunPath({ ...parts, fold: this.#fold, family: this.family });
    const isEnded = (): boolean => this.#ended;
    this.#points = new AdvicePoints({ ...parts, path: this.#path, family: this.family, isEnded });
  }

  get id(): string {
    return this.#parts.log.identity.runId;
  }
  /** Counters, recent calls and patterns. Read-only. */
  get analysis(): TrajectoryAnalysis {
    return this.#fold.analysis;
  }
  /** The session of the run. Change it only through `dispatch`, which records the event for replays. */
  get session(): Session {
    return this.#fold.session;
  }
  get prompt(): PromptTemplate {
    return this.#fold.prompt;
  }
  get parentRunId(): string | undefined {
    return this.#parts.log.identity.parentRunId;
  }
  /** The number of ancestors; 0 for a root run. */
  get depth(): number {
    return this.#parts.log.identity.depth;
  }
  get agentName(): string | undefined {
    return this.#fold.situation.agentName;
  }
  get conversationId(): string | undefined {
    return this.#fold.situation.conversationId;
  }
  get usage(): BudgetUsage {
    return this.family.usage;
  }
  /** @internal */
  get heritage(): Heritage {
    return { prompt: this.prompt, situation: this.#fold.situation };
  }
  /** @internal */
  get changesOfChildren(): ChildOptions['children'] {
    return this.#parts.children;
  }
  /** The arm of an experiment; undefined if there is no experiment. */
  get holdout(): HoldoutArm | undefined {
    return this.#fold.situation.holdout;
  }
  /** Set if the host should stop the run (option `stop`), which it need not. Undefined in shadow mode. */
  get shouldStop(): StopRequest | undefined {
    return this.#path.shouldStop;
  }
  /** A signal for SDKs and `fetch`. Its reason is an `AbortError` with the fields of the `StopRequest`. */
  get stopSignal(): AbortSignal {
    return this.#path.stopSignal;
  }
  get isEnded(): boolean {
    return this.#ended;
  }
  /** The last `seq` that the store has acknowledged; -1 before the first. */
  get durableSeq(): number {
    return this.#parts.durableSeq();
  }

  /** @internal Called once, by `startRun`. */
  begin(started: RunStarted): void {
    this.#path.take(started);
  }

  /** @internal Records the end of a child run in any process, with its usage since it started or last ended. */
  childEnded(child_run_id: string, usage: BudgetUsage): void {
    if (!this.#ended) this.#path.take({ kind: 'child_ended', child_run_id, usage: toStoredBudget(usage) });
  }

  /**
   * Records an event, then folds it. A streaming delta is only passed to listeners. After the end, only `run_resumed` is
   * accepted, which reopens the run. Values that are not JSON, out of range or too large are repaired and counted
   * (docs/recording.md). Never throws.
   *
   * @returns `dropped` if the recorder is full, the run has ended, or the event is unusable; `health()` counts each of
   *   these
   *
   * Cost: O(1) for any value, because only the recorded part is read. Never waits for a disk.
   */
  emit(event: AgentEvent): EmitAnswer {
    try {
      if (this.#ended && event.type !== 'run_resumed') return this.#path.late();
      const payload = toPayload(event.type === 'agent_end' ? this.#lastWords.complete(event) : event);
      if (payload === undefined) {
        this.#parts.onDelta(event);
        return 'accepted';
      }
      this.#path.noteType(unknownType(event, payload));
      if (this.#ended) this.#parts.onResumed();
      if (this.#ended) this.family.resumed();
      this.#ended = payload.kind === 'run_ended';
      const answer = this.#path.take(payload, event.atMs);
      if (this.#ended) this.family.ended(this.id);
      return answer;
    } catch (error) {
      return this.#path.refuse('emit', error);
    }
  }

  /** Calls `sink` for every record and delta of this run, but not of its children, until the returned function is called. */
  listen(sink: EventSink): () => void {
    return this.#parts.listen(sink);
  }

  /** Records an event for the host's session slices. The return value is that of `emit`. */
  dispatch(event: EventInput<unknown>): EmitAnswer {
    if (this.#ended) return this.#path.late();
    try {
      // The value is converted to JSON when it is recorded.
      const data = event.data as Json;
      return this.#path.take({ kind: 'session_event', event_type: event.type, data }, event.atMs);
    } catch (error) {
      return this.#path.refuse('dispatch', error);
    }
  }

  /**
   * Returns advice at a decision point: feedback in the order in which it was produced, then guidance. The list is empty in
   * shadow mode, if an experiment withholds the advice, after the end, and if a provider makes the call.
   */
  advise(point: DecisionPoint, context: AdviseContext = {}): readonly AdviceHandle[] {
    if (this.#path.isBusy) this.#path.askedWithin();
    if (this.#ended || this.#path.isBusy) return [];
    try {
      return this.#points.advise(point, context);
    } catch (error) {
      this.#path.fault('advise', error);
      return [];
    }
  }

  /** Records the beginning of a turn of your own loop, and the answer, if known. The calls follow. */
  turn(answer?: string | Omit<Extract<AgentMessage, { role: 'assistant' }>, 'role'>): void {
    this.emit({ type: 'turn_start' });
    if (answer === undefined) return;
    const message = typeof answer === 'string' ? { content: answer } : answer;
    this.emit({ type: 'message_end', message: { role: 'assistant', ...message } });
  }

  /**
   * Records a call of a tool around `work`: its start, and its end with the result or the error. The result is returned, the error
   * thrown again. A result with `isError: true`, as MCP servers give it, is a failure. A call that throws `refusal(reason)`, or
   * an error with `outcome: 'refused'`, was refused by a person or a policy.
   *
   * @param options.isError  returns true for a result that is a failure as well; default: never
   * @param options.toolCallId  the model's id of the call; default: one that no other process uses for this run
   */
  async call<Result>(
    toolName: string,
    args: unknown,
    work: () => Result | Promise<Result>,
    options: { readonly toolCallId?: string; readonly isError?: (result: Result) => boolean } = {},
  ): Promise<Result> {
    const { toolCallId = `own-${this.#callToken()}${(this.#ownCalls += 1)}` } = options;
    this.emit({ type: 'tool_execution_start', toolCallId, toolName, args });
    const end = (result: unknown, isError: boolean, outcome: CallOutcome | undefined): void =>
      void this.emit({ type: 'tool_execution_end', toolCallId, toolName, result, isError, ...present({ outcome }) });
    try {
      const result = await work();
      const isMarked = isJsonObject(result) && result['isError'] === true;
      end(result, isMarked || this.#asked(() => options.isError?.(result) === true), statedOutcome(result));
      return result;
    } catch (error) {
      end(messageOf(error), true, statedOutcome(error));
      throw error;
    }
  }

  /** Asks a function of the host. A fault of it is recorded, and counts as no. */
  #asked(question: () => boolean): boolean {
    try {
      return question();
    } catch (error) {
      this.#path.fault('isError', error);
      return false;
    }
  }

  #ownCalls = 0;

  /** Distinguishes the calls of `call` from those of other processes, if others may have this run open. */
  #callToken(): string {
    if (!this.#parts.isShared) return '';
    return (this.#ownToken ??= `${globalThis.crypto.randomUUID().slice(0, 8)}-`);
  }
  #ownToken: string | undefined;

  /** Returns the advice after a tool result as one text and records it as delivered to the host. */
  feedback(): string | undefined {
    return deliverAdvice(this.advise('post_tool_result'), { channel: 'host' });
  }

  /**
   * Activates another prompt, with its own providers and counts.
   *
   * @throws CoxswainError "invalid-argument" without a prompt
   * @throws CoxswainError "invalid-definition" if a provider is misconfigured or has the same name as a provider of the run
   */
  usePrompt(prompt: PromptTemplate): void {
    if (this.#ended) return;
    checkPrompt(prompt);
    this.#fold.addPrompt(prompt);
    this.#path.take({ kind: 'prompt_used', prompt_name: prompt.name });
  }

  /** A duration from now, or Unix milliseconds; undefined removes it. An invalid value is `dropped`, with a fault. Never throws. */
  setDeadline(deadline: TimeSpan | { readonly atMs: number } | undefined): EmitAnswer {
    if (this.#ended) return this.#path.late();
    try {
      const storedLimit = storedDeadline(deadline, this.#parts.log.nowMs());
      const answer = this.#path.take({ kind: 'deadline_set', ...storedLimit });
      this.family.leaveDeadline();
      this.family.deadlineSet(storedLimit.deadline_at_unix_ms ?? null);
      return answer;
    } catch (error) {
      return this.#path.refuse('setDeadline', error);
    }
  }

  /** Records the agent's response to advice. Invalid input is refused with a reason that may be shown to the agent. */
  acknowledge(answer: AdviceAnswer): AcknowledgeOutcome {
    if (this.#ended) return { status: 'refused', reason: 'The run has ended.' };
    const adviceAnswer = readAdviceAnswer(answer);
    if (typeof adviceAnswer === 'string') return { status: 'refused', reason: adviceAnswer };
    const view = this.session.slice(Acknowledgement);
    const usageBefore = view.total();
    this.#path.take({
      kind: 'advice_acknowledged',
      ...present({ advice_id: adviceAnswer.adviceId, provider_name: adviceAnswer.provider }),
      response: adviceAnswer.response,
      ...present({ note: adviceAnswer.note }),
    });
    const acknowledgement = view.latest();
    if (acknowledgement !== undefined && view.total() > usageBefore) return { status: 'recorded', acknowledgement };
    return { status: 'refused', reason: 'Name advice that was given, by adviceId or by provider.' };
  }

  /**
   * Starts a child run, such as a subagent, with its own records, state and advice. The child inherits the options that are
   * left out (docs/runs.md#sessions).
   *
   * @throws as `startRun`
   */
  child(options: ChildOptions = {}): Run {
    return this.#parts.startChild(this.#changedOptions(options));
  }

  /** Resolves to true once the recorder has room, or to false after `readyTimeLimitMs`. Waits only with `overflow: 'wait'`. Never throws. */
  async ready(limit?: TimeLimit): Promise<boolean> {
    return this.#parts.ready(limit);
  }

  /**
   * Resolves once all records are stored. Resolves to `incomplete` if some records were lost, or if some still wait after
   * `flushTimeLimitMs`.
   *
   * @throws CoxswainError "trajectory-io" or "trajectory-rejected" instead of `incomplete` with the policy `throw`
   */
  async flush(limit?: TimeLimit): Promise<FlushAnswer> {
    return this.#parts.flush(limit);
  }

  /**
   * Ends the run if it has not ended yet, and flushes.
   *
   * @param ending  the outcome, or an object with `outcome`, `success`, `reward`, `reason`; default: the outcome of an
   *   adapter, such as `aborted`, else `ended`
   * @throws as `flush`
   */
  async end(ending?: string | AgentEnding, limit?: TimeLimit): Promise<EndAnswer> {
    this.emit({ type: 'agent_end', ...(typeof ending === 'string' ? { outcome: ending } : ending) });
    const answer = await this.flush(limit);
    const lostRecords = this.#parts.lostRecords();
    return { stored: answer === 'stored' && lostRecords === 0, lostRecords: lostRecords ?? 0 };
  }

  /**
   * Registers a listener that is called before the end of the run is recorded, so that an adapter can finish open work. Its
   * result is the outcome or the whole ending, and is used if the host states none. Exceptions are recorded.
   */
  beforeEnd(listener: EndListener): void {
    this.#lastWords.add(listener);
  }

  /** Records a fault of an adapter and counts it in `health()`. Never throws. */
  reportFault(where: string, error: unknown): void {
    this.#path.fault(where, error);
  }

  /** Returns the state of the run as JSON. Throws CoxswainError "invalid-argument" if an item of a host's slice is not JSON. */
  snapshot(options: SnapshotOptions = {}): RunSnapshot {
    const { log } = this.#parts;
    const state = { next_seq: log.nextSeq, ended: this.#ended, fold: this.#fold.snapshot(options) };
    return { schema_version: 1, identity: log.identity, ...state };
  }

  #changedOptions(options: ChildOptions): ChildOptions {
    try {
      return this.#parts.children?.(options) ?? options;
    } catch (error) {
      this.#path.fault('children', error);
      return options;
    }
  }

  #followDeadline(atMs: number | null): void {
    if (this.#ended) return;
    this.#path.take({ kind: 'deadline_set', ...(atMs === null ? {} : { deadline_at_unix_ms: atMs }) });
    this.family.deadlineSet(atMs);
  }
}
