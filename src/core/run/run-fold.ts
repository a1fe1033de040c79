import { present, type Json } from '../base/json.ts';
import { NO_REDACTION, type Redactor } from '../redact/redactor.ts';
import { rearmAdvice, adviceId, causeOfAdvice, withdrawAdvice } from '../steering/advice/advice.ts';
import { CoxswainError } from '../base/error.ts';
import { LruMap } from '../base/lru-map.ts';
import { ValueBudget } from '../base/to-json.ts';
import type { DerivedDraft, DerivedPayload } from '../records/derived-payload.ts';
import { MAX_OVERRUNS, evaluatePoint } from './evaluate-point.ts';
import { repairPayload } from '../records/decode-payload.ts';
import type { DecisionPoint } from '../records/spoken-advice.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../records/trajectory-record.ts';
import { guidanceContextOf } from './evaluation-payload.ts';
import type { GuidanceContext } from '../steering/prompt/guidance-provider.ts';
import { acknowledge } from '../steering/feedback/acknowledge.ts';
import { watchedFiles } from '../steering/feedback/evaluate-feedback.ts';
import { CadenceSlice } from '../steering/feedback/advice-slices.ts';
import { feedbackSlices } from '../steering/feedback/speaker.ts';
import { GuidanceDelivered, GuidanceDeliveredEvent } from '../steering/guidance/guidance-slices.ts';
import { SHADOW_REASON, WITHHELD_REASON } from '../records/words.ts';
import { withdrawGuidance } from '../steering/guidance/evaluate-guidance.ts';
import type { ResolvedSteering } from '../steering/resolve-steering.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import {
  situationAfterLimit,
  situationAfterResponse,
  situationAtPoint,
  situationAfterStart,
  EMPTY_STEERING,
  type RunSituation,
  type SteeringState,
  stopAfter,
} from './run-situation.ts';
import { RunSpeakersByPrompt } from './run-speakers-by-prompt.ts';
import { stretchAfter } from '../steering/stop-policy.ts';
import { adoptSession, createSession, restoreSession } from '../session/create-session.ts';
import type { Session, SnapshotOptions, SessionSnapshot } from '../session/session.ts';
import { toolInvoked } from '../session/tool-invoked.ts';
import type { PatternChange } from '../detect/patterns/pattern-book.ts';
import type { TrajectoryAnalysisSnapshot } from '../detect/patterns/analysis-snapshot.ts';
import { TrajectoryAnalysis } from '../detect/patterns/trajectory-analysis.ts';

export interface RunFoldSnapshot {
  readonly schema_version: 1;
  readonly session: SessionSnapshot;
  readonly analysis: TrajectoryAnalysisSnapshot;
  readonly steering: SteeringState;
  readonly args: readonly (readonly [string, Json])[];
  readonly detectorFaults: number;
}

export interface RunFoldOptions {
  readonly steering: ResolvedSteering;
  /** Every prompt that a `prompt_used` record may name. The first prompt is active at the start. */
  readonly prompts: readonly PromptTemplate[];
  readonly snapshot?: RunFoldSnapshot;
  /** The snapshot is not shared and was written by this version, so it is neither checked nor copied. Default false. */
  readonly adopt?: boolean;
  /** Redacts texts of providers, detectors and reducers before they become part of the state. Default: no change. */
  readonly redactor?: Pick<Redactor, 'words'> | undefined;
  /** A monotonic clock in milliseconds that measures overruns. Only a live run has this clock. */
  readonly measureMs?: () => number;
}

const OPEN_CALLS = 512;
const NOTHING: readonly DerivedPayload[] = [];

/**
 * Slices, analysis and advice, computed from the records in the same way for a live run and a replay. `fold` takes an
 * input record and returns the derived ones; it ignores derived records. Time comes from the records. Cost: O(1) per
 * record, plus the providers at an evaluation.
 */
export class RunFold {
  readonly session: Session;
  readonly analysis: TrajectoryAnalysis;
  readonly redactWords: (text: string) => string;
  onOverrun: ((provider: string, durationMs: number) => void) | undefined;
  readonly #options: RunFoldOptions;
  readonly #speakers: RunSpeakersByPrompt;
  readonly #args: LruMap<Json>;
  #steering: SteeringState;
  #nowMs = 0;
  #detectorFaults: number;
  #drafts: DerivedDraft[] = [];

  /** @throws CoxswainError `snapshot-version` if the snapshot has another version */
  constructor(options: RunFoldOptions) {
    const { steering, snapshot } = options;
    const version: number | undefined = snapshot?.schema_version;
    if (version !== undefined && version !== 1) {
      throw new CoxswainError('snapshot-version', `run snapshot has version ${version}, this build reads 1`);
    }
    this.#options = options;
    this.redactWords = (options.redactor ?? NO_REDACTION).words;
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
      // Without a snapshot there is nothing to copy. Copying would take as long as creating the detectors.
      ...(snapshot === undefined ? { adopt: true } : { snapshot: snapshot.analysis, adopt: options.adopt === true }),
    });
    this.#steering = snapshot?.steering ?? EMPTY_STEERING;
    this.#args = new LruMap(OPEN_CALLS, snapshot?.args);
    this.#detectorFaults = snapshot?.detectorFaults ?? 0;
    this.#speakers = new RunSpeakersByPrompt(steering, options.prompts, this.session);
  }

  addPrompt(prompt: PromptTemplate): void {
    this.#speakers.add(prompt, this.session);
  }

  get prompt(): PromptTemplate {
    return this.#speakers.of(this.#steering.situation.promptName).prompt;
  }

  get watchedFiles(): readonly string[] {
    return watchedFiles(this.#speakers.of(this.#steering.situation.promptName));
  }

  get situation(): RunSituation {
    return this.#steering.situation;
  }

  /** Returns true after the overrun that switched a provider off in this run. `key`: `feedback:NAME` and the like. */
  isSwitchedOff(key: string): boolean {
    return this.#steering.overruns[key] === MAX_OVERRUNS;
  }

  /** Folds the next record of the run and returns the derived payloads, in order. */
  fold(record: TrajectoryRecord): readonly DerivedPayload[] {
    if (this.#drafts.length > 0) this.#drafts = [];
    if (record.recorded_at_unix_ms > 0) this.#nowMs = record.recorded_at_unix_ms;
    this.#foldSteering(record);
    this.#recordPatterns(this.analysis.fold(record));
    this.#reportDetectors();
    if (record.payload.kind === 'evaluation') this.#foldEvaluation(record);
    if (this.#options.steering.stop !== undefined) this.#decideStop(record.payload);
    if (this.#drafts.length === 0) return NOTHING;
    // The payloads are repaired here as in a live run, so that a replay derives the same payloads.
    return this.#drafts.map((draft, ordinal) =>
      repairPayload(completePayload(draft, record.seq, ordinal), new ValueBudget()),
    );
  }

  guidanceContext(point: DecisionPoint): GuidanceContext {
    const { session, analysis } = this;
    const speakers = this.#speakers.of(this.#steering.situation.promptName);
    return guidanceContextOf({ nowMs: this.#nowMs, session, analysis, speakers, state: this.#steering }, { point });
  }

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

  #changeSteering(change: Partial<SteeringState>): void {
    this.#steering = { ...this.#steering, ...change };
  }

  #foldSteering(record: TrajectoryRecord): void {
    const { situation } = this.#steering;
    const payload = record.payload;
    const atMs = this.#nowMs;
    switch (payload.kind) {
      case 'run_started':
      case 'run_identified':
      case 'child_ended':
        this.#changeSteering({ situation: situationAfterStart(situation, payload) });
        return;
      case 'deadline_set':
        this.#changeSteering({
          situation: {
            ...situation,
            deadlineAtMs: payload.deadline_at_unix_ms ?? null,
            deadlineSetAtMs: atMs,
          },
        });
        return;
      case 'prompt_used':
        this.#changeSteering({ situation: { ...situation, promptName: payload.prompt_name } });
        return;
      case 'message_appended':
        if (payload.message.role === 'assistant')
          this.#changeSteering({ situation: situationAfterResponse(situation, payload) });
        return;
      case 'compaction':
        this.#changeSteering({ situation: { ...situation, context: undefined } });
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
            outcome: payload.outcome,
            promptName: situation.promptName,
            durationMs: payload.duration_ms,
            atMs,
          }),
        );
        this.#args.delete(payload.tool_call_id);
        return;
      case 'session_event':
        this.#changeSteering({ situation: situationAfterLimit(situation, payload) });
        this.session.dispatch({ type: payload.event_type, data: payload.data, atMs });
        return;
      case 'feedback_delivered':
        if (!payload.delivered) this.#withdraw(payload.advice_id, payload.provider_name, payload.reason);
        return;
      case 'guidance_delivered':
        if (!payload.guidance.delivered)
          this.#withdraw(payload.advice_id, payload.guidance.providerName, payload.guidance.reason);
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
          { nowMs: atMs, isKnown: (reference) => this.#hasAdvised(reference) },
        );
        return;
      case 'provider_overran': {
        const { overruns } = this.#steering;
        const count = (overruns[payload.provider_name] ?? 0) + 1;
        this.#changeSteering({ overruns: { ...overruns, [payload.provider_name]: count } });
        return;
      }
      case 'model_answered':
        this.#takeVerdict(payload);
        return;
      default:
        break;
    }
  }

  /** Advice that an experiment or the shadow mode keeps back counts, so that later decisions are the same as with it. */
  #withdraw(id: string, provider: string, reason: string | undefined): void {
    const seq = causeOfAdvice(id);
    if (seq === undefined || reason === WITHHELD_REASON || reason === SHADOW_REASON) return;
    const { ledger, guidance } = this.#steering;
    const withdrawn = withdrawAdvice(ledger, provider, seq);
    if (withdrawn.every((entry, index) => entry === ledger[index])) return;
    this.#changeSteering({ ledger: withdrawn, guidance: withdrawGuidance(guidance, provider) });
  }

  /** Ids are not checked, because a host that shows ids to the agent knows which ids it has shown. */
  #hasAdvised(reference: { readonly adviceId?: string; readonly provider?: string }): boolean {
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

  #takeVerdict(answer: {
    readonly classifier_name: string;
    readonly instruction_id?: string;
    readonly confidence?: number;
  }): void {
    const { classifier_name: classifier, instruction_id: instructionId, confidence } = answer;
    if (instructionId === undefined || confidence === undefined) return;
    const otherVerdicts = this.#steering.verdicts.filter((verdict) => verdict.classifier !== classifier);
    this.#changeSteering({ verdicts: [...otherVerdicts, { classifier, instructionId, confidence }] });
  }

  /** Records patterns of severity `warn` and above. When a pattern clears, advice about that pattern becomes possible again. */
  #recordPatterns(changes: readonly PatternChange[]): void {
    for (const { type, pattern } of changes) {
      if (pattern.level === 'hint') continue;
      const isCleared = type === 'cleared';
      const { ledger, situation } = this.#steering;
      const stretch = stretchAfter(situation.stretch, isCleared ? 'cleared' : 'flagged', pattern);
      this.#changeSteering({ situation: { ...situation, stretch } });
      if (isCleared) this.#changeSteering({ ledger: rearmAdvice(ledger, pattern.identity) });
      this.#drafts.push({ kind: isCleared ? 'pattern_cleared' : 'pattern_flagged', pattern });
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
    const stop = stopAfter(payload, situation, this.analysis.calls, this.#options.steering.stop);
    if (stop === situation.stop) return;
    // Resuming a stopped run starts a new stretch.
    const { stretch } = stop === undefined ? { stretch: undefined } : situation;
    this.#changeSteering({ situation: { ...situation, stretch, stop } });
    if (stop !== undefined) this.#drafts.push({ kind: 'stop_requested', ...stop });
  }

  #foldEvaluation(record: TrajectoryRecord): void {
    if (record.payload.kind !== 'evaluation') return;
    const situation = situationAtPoint(this.#steering.situation, record.payload);
    if (situation !== this.#steering.situation) this.#changeSteering({ situation });
    const { drafts, state } = evaluatePoint(record.payload, {
      seq: record.seq,
      nowMs: this.#nowMs,
      session: this.session,
      analysis: this.analysis,
      steering: this.#options.steering,
      speakers: this.#speakers.of(situation.promptName),
      state: this.#steering,
      measureMs: this.#options.measureMs,
      onOverrun: this.onOverrun,
      redact: this.redactWords,
    });
    if (drafts.length > 0) this.#drafts.push(...drafts);
    this.#steering = state;
  }
}

function completePayload(draft: DerivedDraft, causeSeq: number, ordinal: number): DerivedPayload {
  if (draft.kind === 'feedback_produced' || draft.kind === 'guidance_produced') {
    return { ...draft, cause_seq: causeSeq, ordinal, advice_id: adviceId(causeSeq, ordinal) };
  }
  return { ...draft, cause_seq: causeSeq, ordinal };
}
