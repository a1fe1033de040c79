import { present } from '../base/present.ts';
import { passOver } from '../records/pass-over.ts';
import { wordsRedactor } from '../redaction/words-redactor.ts';
import { rearmAdvice } from '../steering/advice/advice-ledger.ts';
import { adviceId } from '../steering/advice/advice.ts';
import { CoxswainError } from '../base/error.ts';
import { LruMap } from '../base/lru-map.ts';
import type { Json } from '../base/json.ts';
import { ValueBudget } from '../base/value-budget.ts';
import type { DerivedDraft, DerivedPayload } from '../records/derived-draft.ts';
import { evaluatePoint } from './evaluate-point.ts';
import { mendPayload } from '../records/decode-payload.ts';
import type { DecisionPoint } from '../records/guidance.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';
import { guidanceContextOf } from './guidance-context.ts';
import type { GuidanceContext } from '../steering/prompt/guidance-provider.ts';
import { acknowledge } from '../steering/feedback/acknowledge.ts';
import { watchedFiles } from '../steering/feedback/evaluate-feedback.ts';
import { CadenceSlice } from '../steering/feedback/feedback-cadence.ts';
import { feedbackSlices } from '../steering/feedback/prepare-feedback.ts';
import { GuidanceDelivered, GuidanceDeliveredEvent } from '../steering/guidance/guidance-slices.ts';
import type { ResolvedSteering } from '../steering/resolve-steering.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import { answered, asked, begun, stopAfter, type RunSituation } from './run-situation.ts';
import { RunSpeakersByPrompt } from './run-speakers-by-prompt.ts';
import { stretchAfter } from '../steering/stuck-stretch.ts';
import { EMPTY_STEERING, type SteeringState } from './steering-state.ts';
import { adoptSession, createSession, restoreSession } from '../session/create-session.ts';
import type { Session, SnapshotOptions } from '../session/session.ts';
import type { SessionSnapshot } from '../session/session-snapshot.ts';
import { toolInvoked } from '../session/tool-invoked.ts';
import type { PatternChange } from '../patterns/pattern-book.ts';
import type { TrajectoryAnalysisSnapshot } from '../patterns/analysis-snapshot.ts';
import { TrajectoryAnalysis } from '../patterns/trajectory-analysis.ts';

/** The whole state of a run's folds as JSON. */
export interface RunFoldSnapshot {
  readonly schema_version: 1;
  readonly session: SessionSnapshot;
  readonly analysis: TrajectoryAnalysisSnapshot;
  readonly steering: SteeringState;
  readonly args: readonly (readonly [string, Json])[];
  readonly detectorFaults: number;
}

/** How a fold is set up. */
export interface RunFoldOptions {
  readonly steering: ResolvedSteering;
  /** Every prompt that `prompt_used` may name; the first is in force at the start. */
  readonly prompts: readonly PromptTemplate[];
  readonly snapshot?: RunFoldSnapshot;
  /** Nobody else has the snapshot, and this very version has written it: it is neither checked nor copied. Default false. */
  readonly adopt?: boolean;
  /**
   * What of a payload may be stored: what providers, detectors and reducers say passes it before the state keeps it.
   * Default: all of it.
   */
  readonly redact?: (payload: TrajectoryPayload) => TrajectoryPayload;
  /** A steady clock in milliseconds for overruns; only a live run has one. */
  readonly measureMs?: () => number;
  /** Told of a provider that took too long; only a live run is. */
  readonly onOverrun?: (provider: string, durationMs: number) => void;
}

/** Arguments of open calls are kept for the session; beyond this many the oldest are forgotten. */
const OPEN_CALLS = 512;
const NOTHING: readonly DerivedPayload[] = [];

/**
 * Everything a run knows, folded from its records: session slices, analysis, advice. The same for a live run and for a
 * replay: `fold` takes an input record and gives what follows from it, and passes over derived records. Time comes from
 * the records.
 *
 * Cost of `fold`: O(1) a record, plus what providers cost at an evaluation.
 */
export class RunFold {
  readonly session: Session;
  readonly analysis: TrajectoryAnalysis;
  /** Takes secrets out of a text of the code that steers the run. */
  readonly redactWords: (text: string) => string;
  readonly #options: RunFoldOptions;
  readonly #speakers: RunSpeakersByPrompt;
  readonly #args: LruMap<Json>;
  #steering: SteeringState;
  #nowMs = 0;
  #detectorFaults: number;
  #drafts: DerivedDraft[] = [];

  /** @throws CoxswainError `snapshot-version` when the snapshot is of another version */
  constructor(options: RunFoldOptions) {
    const { steering, snapshot } = options;
    const version: number | undefined = snapshot?.schema_version;
    if (version !== undefined && version !== 1) {
      throw new CoxswainError('snapshot-version', `run snapshot has version ${version}, this build reads 1`);
    }
    this.#options = options;
    this.redactWords = wordsRedactor(options.redact);
    const sessionOptions = {
      clock: { nowMs: () => this.#nowMs },
      slices: [...feedbackSlices, GuidanceDelivered, ...steering.slices],
      retain: steering.retain.slices,
      redact: this.redactWords,
      onFault: (fault: { readonly code: string; readonly message: string; readonly eventType: string }) => {
        const { code, message } = fault;
        this.#drafts.push({ kind: 'provider_failed', provider_name: fault.eventType, phase: 'session', code, message });
      },
    };
    const restore = options.adopt === true ? adoptSession : restoreSession;
    this.session = snapshot === undefined ? createSession(sessionOptions) : restore(snapshot.session, sessionOptions);
    this.analysis = new TrajectoryAnalysis({
      detectors: steering.detectors,
      tools: steering.tools,
      retain: steering.retain.analysis,
      redact: this.redactWords,
      // Without a snapshot there is nothing to copy, and copying nothing takes as long as starting the detectors.
      ...(snapshot === undefined ? { adopt: true } : { snapshot: snapshot.analysis, adopt: options.adopt === true }),
    });
    this.#steering = snapshot?.steering ?? EMPTY_STEERING;
    this.#args = new LruMap(OPEN_CALLS, snapshot?.args);
    this.#detectorFaults = snapshot?.detectorFaults ?? 0;
    this.#speakers = new RunSpeakersByPrompt(steering, options.prompts, this.session);
  }

  /** Makes a prompt known, so that `prompt_used` may name it. */
  addPrompt(prompt: PromptTemplate): void {
    this.#speakers.add(prompt, this.session);
  }

  /** The prompt in force. */
  get prompt(): PromptTemplate {
    return this.#speakers.of(this.#steering.situation.promptName).prompt;
  }

  /** Paths that triggers of the run or of the prompt in force wait for. */
  get watchedFiles(): readonly string[] {
    return watchedFiles(this.#speakers.of(this.#steering.situation.promptName));
  }

  get situation(): RunSituation {
    return this.#steering.situation;
  }

  /**
   * Takes the next record of the run.
   *
   * @returns what follows from it, in order; nothing for a derived record
   */
  fold(record: TrajectoryRecord): readonly DerivedPayload[] {
    if (this.#drafts.length > 0) this.#drafts = [];
    if (record.recorded_at_unix_ms > 0) this.#nowMs = record.recorded_at_unix_ms;
    this.#steer(record);
    this.#follow(this.analysis.fold(record));
    this.#reportDetectors();
    if (record.payload.kind === 'evaluation') this.#evaluate(record);
    if (this.#options.steering.stop !== undefined) this.#decideStop(record.payload);
    if (this.#drafts.length === 0) return NOTHING;
    // What providers and detectors say passes the gate here too, so that a replay gives what the live run recorded.
    return this.#drafts.map((draft, ordinal) => mendPayload(complete(draft, record.seq, ordinal), new ValueBudget()));
  }

  /** What a model-backed classifier is asked about. */
  guidanceContext(point: DecisionPoint): GuidanceContext {
    const { session, analysis } = this;
    const speakers = this.#speakers.of(this.#steering.situation.promptName);
    return guidanceContextOf({ nowMs: this.#nowMs, session, analysis, speakers, state: this.#steering }, { point });
  }

  /** The whole state as JSON; a fold made from it goes on as if nothing had happened. */
  snapshot(options: SnapshotOptions = {}): RunFoldSnapshot {
    return {
      schema_version: 1,
      session: this.session.snapshot(options),
      analysis: this.analysis.snapshot(options.shared),
      steering: this.#steering,
      args: this.#args.entries(),
      detectorFaults: this.#detectorFaults,
    };
  }

  #change(change: Partial<SteeringState>): void {
    this.#steering = { ...this.#steering, ...change };
  }

  #steer(record: TrajectoryRecord): void {
    const { situation } = this.#steering;
    const payload = record.payload;
    const atMs = this.#nowMs;
    switch (payload.kind) {
      case 'run_started':
      case 'run_identified':
      case 'child_ended':
        this.#change({ situation: begun(situation, payload) });
        return;
      case 'deadline_set':
        this.#change({
          situation: {
            ...situation,
            deadlineAtMs: payload.deadline_at_unix_ms ?? null,
            deadlineSetAtMs: atMs,
          },
        });
        return;
      case 'prompt_used':
        this.#change({ situation: { ...situation, promptName: payload.prompt_name } });
        return;
      case 'message_appended':
        if (payload.message.role === 'assistant') this.#change({ situation: answered(situation, payload.message) });
        return;
      case 'tool_started':
        this.#args.set(payload.tool_call_id, payload.args);
        return;
      case 'tool_ended':
        this.session.dispatch(
          toolInvoked({
            name: payload.tool_name,
            params: this.#args.get(payload.tool_call_id) ?? null,
            result: payload.result,
            success: !payload.is_error,
            promptName: situation.promptName,
            durationMs: payload.duration_ms,
            atMs,
          }),
        );
        this.#args.delete(payload.tool_call_id);
        return;
      case 'session_event':
        this.session.dispatch({ type: payload.event_type, data: payload.data, atMs });
        return;
      case 'guidance_delivered':
        this.session.dispatch(GuidanceDeliveredEvent(payload.guidance, { atMs }));
        return;
      case 'advice_acknowledged':
        acknowledge(
          this.session,
          {
            ...present({ adviceId: payload.advice_id, provider: payload.provider_name }),
            response: payload.response,
            ...present({ note: payload.note }),
          },
          { nowMs: atMs, isKnown: (reference) => this.#hasSpoken(reference) },
        );
        return;
      case 'provider_overran': {
        const { overruns } = this.#steering;
        const count = (overruns[payload.provider_name] ?? 0) + 1;
        this.#change({ overruns: { ...overruns, [payload.provider_name]: count } });
        return;
      }
      case 'model_answered':
        this.#hear(payload);
        return;
      default:
        passOver<
          'life' | 'talk' | 'requests' | 'host' | 'patterns' | 'produced' | 'delivered' | 'asked' | 'faults' | 'unread'
        >(payload);
    }
  }

  /** Ids are not looked up: whoever shows ids knows which he gave out. */
  #hasSpoken(reference: { readonly adviceId?: string; readonly provider?: string }): boolean {
    if (reference.adviceId !== undefined) return true;
    const { provider } = reference;
    const { session } = this;
    return (
      session
        .slice(CadenceSlice)
        .all()
        .some((item) => item.name === provider) ||
      session
        .slice(GuidanceDelivered)
        .all()
        .some((item) => item.providerName === provider)
    );
  }

  #hear(answer: {
    readonly classifier_name: string;
    readonly instruction_id?: string;
    readonly confidence?: number;
  }): void {
    const { classifier_name: classifier, instruction_id: instructionId, confidence } = answer;
    if (instructionId === undefined || confidence === undefined) return;
    const others = this.#steering.verdicts.filter((verdict) => verdict.classifier !== classifier);
    this.#change({ verdicts: [...others, { classifier, instructionId, confidence }] });
  }

  /** Patterns become records from `warn` up; one that was left may be spoken of again when it comes back. */
  #follow(changes: readonly PatternChange[]): void {
    for (const { type, pattern } of changes) {
      if (pattern.level === 'hint') continue;
      const isLeft = type === 'cleared';
      const { ledger, situation } = this.#steering;
      const stretch = stretchAfter(situation.stretch, isLeft ? 'cleared' : 'flagged', pattern);
      this.#change({ situation: { ...situation, stretch } });
      if (isLeft) this.#change({ ledger: rearmAdvice(ledger, pattern.identity) });
      this.#drafts.push({ kind: isLeft ? 'pattern_cleared' : 'pattern_flagged', pattern });
    }
  }

  #reportDetectors(): void {
    const { faults } = this.analysis;
    if (faults.length === this.#detectorFaults) return;
    for (const { detector, message } of faults.slice(this.#detectorFaults)) {
      this.#drafts.push({ kind: 'provider_failed', provider_name: detector, phase: 'observe', code: 'threw', message });
    }
    this.#detectorFaults = faults.length;
  }

  #decideStop(payload: TrajectoryPayload): void {
    const { situation } = this.#steering;
    const stop = stopAfter(payload, { situation, policy: this.#options.steering.stop, calls: this.analysis.calls });
    if (stop === situation.stop) return;
    // Who goes on with a stopped run gives it another chance.
    const { stretch } = stop === undefined ? { stretch: undefined } : situation;
    this.#change({ situation: { ...situation, stretch, stop } });
    if (stop !== undefined) this.#drafts.push({ kind: 'stop_requested', ...stop });
  }

  #evaluate(record: TrajectoryRecord): void {
    if (record.payload.kind !== 'evaluation') return;
    const situation = asked(this.#steering.situation, record.payload);
    if (situation !== this.#steering.situation) this.#change({ situation });
    const { drafts, state } = evaluatePoint(record.payload, {
      nowMs: this.#nowMs,
      session: this.session,
      analysis: this.analysis,
      steering: this.#options.steering,
      speakers: this.#speakers.of(situation.promptName),
      state: this.#steering,
      measureMs: this.#options.measureMs,
      onOverrun: this.#options.onOverrun,
      redact: this.redactWords,
    });
    if (drafts.length > 0) this.#drafts.push(...drafts);
    this.#steering = state;
  }
}

/** Gives a draft its cause and, where it is advice, its id. */
function complete(draft: DerivedDraft, causeSeq: number, ordinal: number): DerivedPayload {
  if (draft.kind === 'feedback_produced' || draft.kind === 'guidance_produced') {
    return { ...draft, cause_seq: causeSeq, ordinal, advice_id: adviceId(causeSeq, ordinal) };
  }
  return { ...draft, cause_seq: causeSeq, ordinal };
}
