import { present } from '../base/present.ts';
import { adviceHandleOf, drawnUnit } from './advice-handle-of.ts';
import { deliverAdvice, type AdviceHandle } from './advice-handle.ts';
import type { BudgetUsage } from '../base/budget.ts';
import type { TimeSpan } from '../base/deadline.ts';
import type { Json } from '../base/json.ts';
import type { DerivedPayload } from '../records/derived-draft.ts';
import type { AgentEnding, AgentEvent } from '../records/agent-event.ts';
import { evaluationPayload, type AdviseContext } from './evaluation-payload.ts';
import type { DecisionPoint } from '../records/guidance.ts';
import type { RunStarted, TrajectoryPayload } from '../records/trajectory-record.ts';
import { readAdviceAnswer, type AcknowledgeOutcome, type AdviceAnswer } from '../steering/feedback/acknowledge.ts';
import { Acknowledgement } from '../steering/feedback/advice-slices.ts';
import { askModel, type ModelAnswer } from '../steering/guidance/model-classifier.ts';
import { silenceReason, type HoldoutArm } from '../steering/holdout.ts';
import type { StopRequest } from '../steering/stop-policy.ts';
import { Filesystem } from '../steering/prompt/prompt-resources.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import type { EmitAnswer, FlushAnswer, TimeLimit } from '../recorder/recorder-answers.ts';
import type { RunLog } from '../recorder/run-log.ts';
import { toPayload } from '../recorder/to-payload.ts';
import type { Heritage } from './inherit.ts';
import { LastWords, type EndListener } from './last-words.ts';
import type { EventSink } from './listeners.ts';
import type { FamilyMember, RunFamily } from './run-family.ts';
import { RunPath } from './run-path.ts';
import { storedDeadline, toStoredBudget } from './run-situation.ts';
import type { ChildOptions } from './run-options.ts';
import type { RunFold } from './run-fold.ts';
import type { RunSnapshot } from './run-snapshot.ts';
import type { EventInput } from '../session/define-event.ts';
import type { Session, SnapshotOptions } from '../session/session.ts';
import type { ModelGuidanceConfig } from '../steering/steering-options.ts';
import type { TrajectoryAnalysis } from '../patterns/trajectory-analysis.ts';

/** What a run is made from. @internal */
export interface RunParts {
  readonly log: RunLog;
  /** Given the handler for overruns, makes the folds. */
  readonly fold: (onOverrun: (provider: string, durationMs: number) => void) => RunFold;
  readonly mode: 'steer' | 'shadow';
  readonly models: readonly ModelGuidanceConfig[];
  readonly providerTimeLimitMs: number;
  readonly flush: (limit?: TimeLimit) => Promise<FlushAnswer>;
  readonly ready: (limit?: TimeLimit) => Promise<boolean>;
  readonly durableSeq: () => number;
  readonly startChild: (options: ChildOptions) => Run;
  readonly family: (member: FamilyMember) => RunFamily;
  /** As of `ChildOptions.children`. */
  readonly children?: ChildOptions['children'];
  /** Told of a fault of ours. */
  readonly onFault: (message: string) => void;
  /** Told when the run is open again after its end. */
  readonly onResumed: () => void;
  /** Called with an event that is not recorded. */
  readonly onDelta: (event: AgentEvent) => void;
  readonly listen: (sink: EventSink) => () => void;
  readonly ended?: boolean;
}

/**
 * One run of an agent: takes what happens, records it, analyses it, and gives advice when asked. Every method but
 * `ready`, `flush` and `end` is synchronous, and none of them throws for what providers, stores or detectors do at run time.
 */
export class Run {
  readonly #parts: RunParts;
  readonly #fold: RunFold;
  /** @internal */
  readonly family: RunFamily;
  readonly #path: RunPath;
  readonly #lastWords = new LastWords((error) => this.#path.fault('closing', error));
  readonly #overruns: { readonly provider: string; readonly durationMs: number }[] = [];
  #ended: boolean;

  /** @internal Use `cox.startRun()`. */
  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#fold = parts.fold((provider, durationMs) => this.#overruns.push({ provider, durationMs }));
    this.#ended = parts.ended ?? false;
    this.family = parts.family({
      followDeadline: (atMs) => this.#followDeadline(atMs),
      childEnded: (childRunId, usage) => this.childEnded(childRunId, usage),
    });
    const { log, onFault } = parts;
    this.#path = new RunPath({ log, fold: this.#fold, family: this.family, onFault, mode: parts.mode });
  }

  get id(): string {
    return this.#parts.log.identity.runId;
  }
  /** Counters, recent calls and patterns of this run. For reading. */
  get analysis(): TrajectoryAnalysis {
    return this.#fold.analysis;
  }
  /** The run's session. Reading is free; change it through `dispatch`, so that a replay sees it. */
  get session(): Session {
    return this.#fold.session;
  }
  /** The prompt in force. */
  get prompt(): PromptTemplate {
    return this.#fold.prompt;
  }
  /** The run that started this one; undefined for a root run. */
  get parentRunId(): string | undefined {
    return this.#parts.log.identity.parentRunId;
  }
  /** 0 for a root run. */
  get depth(): number {
    return this.#parts.log.identity.depth;
  }
  /** Who the agent is, as far as the host said. */
  get agentName(): string | undefined {
    return this.#fold.situation.agentName;
  }
  /** The host's own name for the conversation. */
  get conversationId(): string | undefined {
    return this.#fold.situation.conversationId;
  }
  /** What this run and the runs below it used so far, in this process. */
  get usage(): BudgetUsage {
    return this.family.usage;
  }
  /** What runs below it have from it. @internal */
  get heritage(): Heritage {
    return { prompt: this.prompt, situation: this.#fold.situation };
  }
  /** @internal */
  get changesOfChildren(): ChildOptions['children'] {
    return this.#parts.children;
  }
  /** The experiment that it is in; undefined where there is none. */
  get holdout(): HoldoutArm | undefined {
    return this.#fold.situation.holdout;
  }
  /**
   * Why the host should stop the run now, by the option `stop`; undefined where it need not, and in shadow mode. A run that goes on all
   * the same is not hindered.
   */
  get shouldStop(): StopRequest | undefined {
    return this.#path.shouldStop;
  }
  /** Aborted with a `StopRequest` once the run should stop; for SDKs and `fetch`, which take such a signal. */
  get stopSignal(): AbortSignal {
    return this.#path.stopSignal;
  }
  get isEnded(): boolean {
    return this.#ended;
  }
  /** Last `seq` that the store has acknowledged; -1 before the first. */
  get durableSeq(): number {
    return this.#parts.durableSeq();
  }

  /** Records how the run began. @internal Called once, by `startRun`. */
  begin(started: RunStarted): void {
    this.#path.take(started);
  }

  /** Records that a run below this one ended, in whatever process. @param usage  since it began or last ended @internal */
  childEnded(child_run_id: string, usage: BudgetUsage): void {
    if (!this.#ended) this.#path.take({ kind: 'child_ended', child_run_id, usage: toStoredBudget(usage) });
  }

  /**
   * Takes what happened: records it, then folds it. A streaming delta does nothing. After the end only `run_resumed`
   * is taken, and opens the run again. Values may be anything: what JSON cannot say, what is out of range and what is too large
   * is mended and counted (docs/recording.md).
   *
   * @returns `accepted` for what the store can take; `dropped` when the recorder had no room, the run is over, or nothing could
   *   be made of the event: each is counted in `health()`. The folds have it in the first case. Never throws
   * Cost: O(1) for any value, because no more of it is looked at than is kept; never waits for a disk.
   */
  emit(event: AgentEvent): EmitAnswer {
    try {
      if (this.#ended && event.type !== 'run_resumed') return this.#path.late();
      const payload = toPayload(event.type === 'agent_end' ? this.#lastWords.complete(event) : event);
      if (payload === undefined) {
        this.#parts.onDelta(event);
        return 'accepted';
      }
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

  /** Tells `sink` of everything that happens in this run from now on; runs below it have listeners of their own. @returns takes it off */
  listen(sink: EventSink): () => void {
    return this.#parts.listen(sink);
  }

  /** Takes an event of the host's own, for its session slices. Recorded, so that a replay sees it. Answers as `emit`. */
  dispatch(event: EventInput<unknown>): EmitAnswer {
    if (this.#ended) return this.#path.late();
    try {
      // The gate makes JSON of it.
      const data = event.data as Json;
      return this.#path.take({ kind: 'session_event', event_type: event.type, data }, event.atMs);
    } catch (error) {
      return this.#path.refuse('dispatch', error);
    }
  }

  /**
   * Asks for advice at a decision point.
   *
   * @returns what to say, loudest first; nothing in shadow mode, where an experiment withholds it, after the end, or when asked from within a provider
   */
  advise(point: DecisionPoint, context: AdviseContext = {}): readonly AdviceHandle[] {
    if (this.#path.isBusy) this.#path.askedWithin();
    if (this.#ended || this.#path.isBusy) return [];
    try {
      const handles = this.#evaluate(point, context);
      this.#askModels(point);
      return handles;
    } catch (error) {
      this.#path.fault('advise', error);
      return [];
    }
  }

  /** Shorthand: advice after a tool result as one text, counted as delivered to the host. */
  feedback(): string | undefined {
    return deliverAdvice(this.advise('post_tool_result'), { channel: 'host' });
  }

  /**
   * From now on another prompt is in force: its providers speak, and counts are its own.
   *
   * @throws CoxswainError "invalid-definition" when it configures a provider wrongly, or names one the run has too
   */
  usePrompt(prompt: PromptTemplate): void {
    if (this.#ended) return;
    this.#fold.addPrompt(prompt);
    this.#path.take({ kind: 'prompt_used', prompt_name: prompt.name });
  }

  /**
   * From now on the run has another deadline: a span from now, Unix milliseconds, or none. One that cannot be, such as NaN, is
   * `dropped`, recorded as a fault, and leaves the deadline as it was. Never throws.
   */
  setDeadline(deadline: TimeSpan | { readonly atMs: number } | undefined): EmitAnswer {
    if (this.#ended) return this.#path.late();
    try {
      const stored = storedDeadline(deadline, this.#parts.log.nowMs());
      const answer = this.#path.take({ kind: 'deadline_set', ...stored });
      this.family.leaveDeadline();
      this.family.deadlineSet(stored.deadline_at_unix_ms ?? null);
      return answer;
    } catch (error) {
      return this.#path.refuse('setDeadline', error);
    }
  }

  /**
   * Records the agent's answer to a piece of advice. What a model sends may be anything: what cannot be used is refused
   * with a reason that may be told to the agent.
   */
  acknowledge(answer: AdviceAnswer): AcknowledgeOutcome {
    if (this.#ended) return { status: 'refused', reason: 'The run is over.' };
    const read = readAdviceAnswer(answer);
    if (typeof read === 'string') return { status: 'refused', reason: read };
    const view = this.session.slice(Acknowledgement);
    const before = view.total();
    this.#path.take({
      kind: 'advice_acknowledged',
      ...present({ advice_id: read.adviceId, provider_name: read.provider }),
      response: read.response,
      ...present({ note: read.note }),
    });
    const acknowledgement = view.latest();
    if (acknowledgement !== undefined && view.total() > before) return { status: 'recorded', acknowledgement };
    return { status: 'refused', reason: 'Name advice that was given, by adviceId or by provider.' };
  }

  /**
   * Starts a run below this one, such as a subagent. It has its own records, state and advice; what `options` leave out it has
   * from this run (docs/sessions.md).
   *
   * @throws as `startRun`
   */
  child(options: ChildOptions = {}): Run {
    return this.#parts.startChild(this.#changed(options));
  }

  /**
   * Resolves to true when the recorder has room. Only under `overflow: 'wait'` does that take time, and never more
   * than `readyTimeLimitMs`; then it is false. Never throws.
   */
  async ready(limit?: TimeLimit): Promise<boolean> {
    return this.#parts.ready(limit);
  }

  /**
   * Resolves when everything so far is stored, or `incomplete` when something was lost or still waits after
   * `flushTimeLimitMs`.
   *
   * @throws CoxswainError "trajectory-io" or "trajectory-rejected" instead of `incomplete` under the policy `throw`
   */
  async flush(limit?: TimeLimit): Promise<FlushAnswer> {
    return this.#parts.flush(limit);
  }

  /**
   * Ends the run, if the host has not told of its end, and stores what is left.
   *
   * @param ending  how it went: the outcome, or with `success`, `reward` and `reason` what is known of it; default: what an adapter
   *   knows, such as `aborted`, else `ended`
   * @throws as `flush`
   */
  async end(ending?: string | AgentEnding, limit?: TimeLimit): Promise<FlushAnswer> {
    this.emit({ type: 'agent_end', ...(typeof ending === 'string' ? { outcome: ending } : ending) });
    return this.flush(limit);
  }

  /**
   * Asks a listener for last words, just before the end of the run is recorded: an adapter settles there what is open.
   * What it returns is the outcome, or the whole ending, where the host names none. A fault in it is recorded.
   */
  beforeEnd(listener: EndListener): void {
    this.#lastWords.add(listener);
  }

  /**
   * Records a fault of what stands between the agent and this run, such as an adapter: counted in `health()`, and on the
   * log with its place. Never throws.
   */
  reportFault(where: string, error: unknown): void {
    this.#path.fault(where, error);
  }

  /** The run's state as JSON. @throws CoxswainError "invalid-argument" when a host's slice holds what is not JSON */
  snapshot(options: SnapshotOptions = {}): RunSnapshot {
    const { log } = this.#parts;
    const state = { next_seq: log.nextSeq, ended: this.#ended, fold: this.#fold.snapshot(options) };
    return { schema_version: 1, identity: log.identity, ...state };
  }

  #changed(options: ChildOptions): ChildOptions {
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

  #evaluate(point: DecisionPoint, context: AdviseContext): readonly AdviceHandle[] {
    const payload = evaluationPayload(point, context, { files: this.#filesCreated(), shared: this.family.shared });
    const derived: DerivedPayload[] = [];
    const record = this.#parts.log.stamp(payload);
    this.#path.process(record, derived);
    for (const { provider, durationMs } of this.#overruns.splice(0)) {
      const limit_ms = this.#parts.providerTimeLimitMs;
      this.#path.take({ kind: 'provider_overran', provider_name: provider, duration_ms: durationMs, limit_ms });
    }
    // Also after the end: the last words of a run may be settled late, and the record must say so.
    const take = (settled: TrajectoryPayload): void => void this.#path.take(settled);
    return derived.flatMap((item) =>
      adviceHandleOf(item, { point, atMs: record.recorded_at_unix_ms, take }).filter((handle) => {
        const unit = drawnUnit(item, this.#fold);
        const reason = silenceReason(this.#parts.mode, this.holdout, { runId: this.id, unit });
        if (reason !== undefined) handle.undelivered(reason);
        return reason === undefined;
      }),
    );
  }

  /** Files that triggers watch for and that exist now; asked outside the folds, because a replay cannot ask. */
  #filesCreated(): readonly string[] {
    const filesystem = this.prompt.resources.getOptional(Filesystem);
    return filesystem === undefined ? [] : this.#fold.watchedFiles.filter((path) => filesystem.exists(path));
  }

  #askModels(point: DecisionPoint): void {
    for (const model of this.#parts.models) {
      if (!model.decisionPoints.includes(point)) continue;
      const { classifier, bank, timeLimitMs } = model;
      const { redactWords: redact } = this.#fold;
      const limits = { bank, redact, ...present({ timeLimitMs }) };
      void askModel(classifier, this.#fold.guidanceContext(point), limits).then((answer) =>
        this.#hear(classifier.name, answer),
      );
    }
  }

  #hear(classifier_name: string, answer: ModelAnswer): void {
    if (this.#ended || answer.kind === 'none') return;
    const said =
      answer.kind === 'verdict'
        ? { instruction_id: answer.verdict.instructionId, confidence: answer.verdict.confidence }
        : { fault_code: answer.fault.code, fault_message: answer.fault.message };
    this.#path.take({ kind: 'model_answered', classifier_name, ...said });
  }
}
