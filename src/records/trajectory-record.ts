import type { Json, JsonObject } from '../base/json.ts';
import type { SpokenAdvice } from './feedback.ts';
import type { ClassificationResult, DecisionPoint, GuidanceDelivered, GuidanceInjection } from './guidance.ts';
import type { RunIdentity } from './run-identity.ts';
import type { StoredMessage } from './stored-message.ts';
import type { TrajectoryPattern } from './trajectory-pattern.ts';

/**
 * The schema version stamped on every new record. A record without `schema_version` reads as 0, which means
 * "written before versions existed".
 */
export const TRAJECTORY_SCHEMA_VERSION = 1;

/**
 * One durable record of a run, in the JSON form in which it lies on disk.
 *
 * `seq` is gapless per run and starts at 0.
 */
export interface TrajectoryRecord {
  readonly schema_version: number;
  readonly seq: number;
  /** Absent for records of a stream whose identity never became known. */
  readonly run_id?: string;
  readonly parent_run_id?: string;
  /** 0 for a root run. */
  readonly depth: number;
  /** Unix milliseconds when the event happened; 0 where an imported source does not say. */
  readonly recorded_at_unix_ms: number;
  /**
   * The input that this record comes from, if the store could not take it when it arrived. All records of one such input
   * share the id, so the input is never folded twice. Absent for everything that was stored at once.
   */
  readonly late_input_id?: string;
  readonly payload: TrajectoryPayload;
}

/** A run began: always the first record of a run. */
export interface RunStarted {
  readonly kind: 'run_started';
  readonly identity: RunIdentity;
  /** What the agent was asked to do, where known. */
  readonly task?: string;
  /** Where an imported run came from: `path#id`. */
  readonly source?: string;
  /** The import format, for an imported run. */
  readonly format?: string;
  /** What steering went by: a replay needs the same. Absent for an imported run. */
  readonly steering?: SteeringStart;
}

/** How the steering of a run began. */
export interface SteeringStart {
  readonly prompt_name: string;
  readonly deadline_at_unix_ms?: number;
  readonly budget?: StoredBudget;
  /** Fingerprint of the steering configuration: names, triggers, limits. */
  readonly configuration_hash: string;
  /** `shadow`: everything is worked out and recorded, nothing is said. */
  readonly mode: 'steer' | 'shadow';
  /** The run's part in an experiment: with `withheld`, advice is worked out and recorded but not given. */
  readonly holdout?: { readonly share: number; readonly withheld: boolean };
}

/** Limits of a run, or what of them was used. */
export interface StoredBudget {
  readonly calls?: number;
  readonly tokens?: number;
  readonly cost_usd?: number;
}

/** A run ended. `success`, `reward` and `labels` say how it went, where the source knows. */
export interface RunEnded {
  readonly kind: 'run_ended';
  /** `ended`, `aborted`, `error`, `limit`, or the source's own word. */
  readonly outcome: string;
  readonly new_messages: readonly StoredMessage[];
  readonly success?: boolean;
  readonly reward?: number;
  readonly labels?: JsonObject;
}

/** The host goes on with a run that had ended, such as a session that is opened again. Input. */
export interface RunResumed {
  readonly kind: 'run_resumed';
  /** In the host's words: `resume`, `continue`, `clear`. */
  readonly trigger: string;
}

/** From here on the run has another deadline; without a time it has none. Input. */
export interface DeadlineSet {
  readonly kind: 'deadline_set';
  readonly deadline_at_unix_ms?: number;
}

/** The agent wanted to stop, and what must hold by then was looked at. Input. */
export interface CompletionChecked {
  readonly kind: 'completion_checked';
  readonly met: boolean;
  /** What does not hold, one line each; empty when `met`. */
  readonly missing: readonly string[];
  /** 1 for the first time the agent wanted to stop. */
  readonly attempt: number;
  /** Set when it did not hold and the agent was let go all the same, because it had been sent back often enough. */
  readonly gave_up?: true;
}

/** The model began an answer; the calls until the next one belong to this turn and were issued together. */
export interface TurnStarted {
  readonly kind: 'turn_started';
}

/** The model's answer is complete and its tools have run. */
export interface TurnEnded {
  readonly kind: 'turn_ended';
  readonly assistant: StoredMessage;
  readonly tool_results: readonly StoredMessage[];
}

/** A message joined the transcript. */
export interface MessageAppended {
  readonly kind: 'message_appended';
  readonly message: StoredMessage;
}

/** A tool call was issued. `tool_call_id` is unique within the run (importers make it so). */
export interface ToolStarted {
  readonly kind: 'tool_started';
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly args: Json;
}

/** A tool call came back. */
export interface ToolEnded {
  readonly kind: 'tool_ended';
  readonly tool_call_id: string;
  readonly tool_name: string;
  /** What the model got to see: a string, or the host's structured result. */
  readonly result: Json;
  readonly is_error: boolean;
  /** Set on an error that was read from the text, because the source has no flag. */
  readonly error_inferred?: true;
  /** Set when the source holds the call but no result for it. */
  readonly result_missing?: true;
  readonly duration_ms?: number;
}

/** What one model request looked like, after transforms and gates. */
export interface ProviderRequestPrepared {
  readonly kind: 'provider_request_prepared';
  readonly iteration: number;
  readonly model_id: string | null;
  readonly system_prompt_chars: number;
  readonly message_count: number;
  readonly tool_count: number;
  readonly tools: readonly string[];
}

/** A context transform ran. */
export interface ContextTransformApplied {
  readonly kind: 'context_transform_applied';
  readonly iteration: number;
  readonly plugin: string;
  readonly before_count: number;
  readonly after_count: number;
}

/** A tool gate contributed an allowlist for this turn. */
export interface ToolGateApplied {
  readonly kind: 'tool_gate_applied';
  readonly iteration: number;
  readonly plugin: string;
  readonly allow?: readonly string[];
}

/** The allowlists had nothing in common, so one of them was chosen. */
export interface ToolGateConflictResolved {
  readonly kind: 'tool_gate_conflict_resolved';
  readonly iteration: number;
  readonly plugins: readonly string[];
  readonly chosen_plugin?: string;
  readonly allow: readonly string[];
  readonly reason: string;
}

/** A truncated turn was discarded and run again with a higher output cap. */
export interface OutputTokensEscalation {
  readonly kind: 'output_tokens_escalation';
  readonly attempt: number;
  readonly prev_cap: number;
  readonly new_cap: number;
}

/** The host shortened the conversation; advice given before it may be forgotten. */
export interface Compaction {
  readonly kind: 'compaction';
  /** `auto`, `manual`, or the host's own word. */
  readonly trigger: string;
}

/** Records that were lost: this record fills `seq … through_seq`, so the next one is `through_seq + 1`. */
export interface Gap {
  readonly kind: 'gap';
  readonly through_seq: number;
  readonly reason: string;
}

/**
 * A decision point was reached and the steering was asked. Input: everything that the answer depends on and that no
 * earlier record holds; the time is the record's.
 */
export interface Evaluation {
  readonly kind: 'evaluation';
  readonly point: DecisionPoint;
  readonly pending_calls?: readonly StoredPendingCall[];
  /** Text of the model's last answer, where the host gave it here. */
  readonly last_response?: string;
  /** The prompt as last rendered, where the host gave it here. */
  readonly rendered_prompt?: string;
  /** Files that triggers watch for and that exist now. */
  readonly files_created?: readonly string[];
  readonly usage?: StoredBudget;
}

/** A call the model asked for and that has not run yet. */
export interface StoredPendingCall {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly args: Json;
}

/** Another prompt is in force from here on. Input. */
export interface PromptUsed {
  readonly kind: 'prompt_used';
  readonly prompt_name: string;
}

/** An event of the host's own that session slices fold. Input. */
export interface SessionEventRecorded {
  readonly kind: 'session_event';
  readonly event_type: string;
  readonly data: Json;
}

/** What every derived record names: the input that led to it, and its place among what that input led to. */
interface Derived {
  readonly cause_seq: number;
  readonly ordinal: number;
}

/** A pattern reached `warn`, or rose to `strong`. Derived. */
export interface PatternFlagged extends Derived {
  readonly kind: 'pattern_flagged';
  readonly pattern: TrajectoryPattern;
}

/** The agent left a pattern that had been flagged. Derived. */
export interface PatternCleared extends Derived {
  readonly kind: 'pattern_cleared';
  readonly pattern: TrajectoryPattern;
}

/** Feedback (or the assessment of an observer) was produced. Derived. */
export interface FeedbackProduced extends Derived {
  readonly kind: 'feedback_produced';
  readonly advice_id: string;
  readonly provider_name: string;
  readonly feedback: SpokenAdvice;
  /** What is said to the agent. */
  readonly text: string;
}

/** Guidance was produced. Derived. */
export interface GuidanceProduced extends Derived {
  readonly kind: 'guidance_produced';
  readonly advice_id: string;
  readonly provider_name: string;
  readonly injection: GuidanceInjection;
  readonly decision_point: DecisionPoint;
  readonly classification: ClassificationResult;
}

/** Whether feedback reached the agent. Input: the host says so. */
export interface FeedbackDeliveryRecorded {
  readonly kind: 'feedback_delivered';
  readonly advice_id: string;
  readonly provider_name: string;
  readonly delivered: boolean;
  /** How, in the adapter's words, such as `tool-result`. */
  readonly channel?: string;
  /** Why not. */
  readonly reason?: string;
}

/** Whether guidance reached the agent. Input: the host says so. */
export interface GuidanceDeliveryRecorded {
  readonly kind: 'guidance_delivered';
  readonly advice_id: string;
  readonly guidance: GuidanceDelivered;
}

/** A provider, classifier, observer or detector threw or answered with nonsense; it stayed silent. Derived. */
export interface ProviderFailed extends Derived {
  readonly kind: 'provider_failed';
  readonly provider_name: string;
  /** What it was doing: `shouldRun`, `provide`, `classify`, `observe`… */
  readonly phase: string;
  readonly code: string;
  readonly message: string;
}

/** A provider took longer than it may. Its answer counted; after the third time it is not asked again. Input. */
export interface ProviderOverran {
  readonly kind: 'provider_overran';
  readonly provider_name: string;
  readonly duration_ms: number;
  readonly limit_ms: number;
}

/** Something went wrong on our side, or a provider turned on the run that asked it. Input. */
export interface FaultNoticed {
  readonly kind: 'fault_noticed';
  /** What was being done. */
  readonly where: string;
  readonly message: string;
}

/** A model-backed classifier answered, failed, or ran out of time. Input. */
export interface ModelAnswered {
  readonly kind: 'model_answered';
  readonly classifier_name: string;
  /** An id of its bank; absent when none applies or it failed. */
  readonly instruction_id?: string;
  readonly confidence?: number;
  readonly fault_code?: string;
  readonly fault_message?: string;
}

/** The agent answered a piece of advice. Input. */
export interface AdviceAcknowledged {
  readonly kind: 'advice_acknowledged';
  readonly advice_id?: string;
  readonly provider_name?: string;
  readonly response: 'accepted' | 'rejected' | 'noted';
  readonly note?: string;
}

/** A payload of a kind this version does not know, kept whole. Its stored `kind` is `original.kind`. */
export interface UnrecognisedPayload {
  readonly kind: 'unrecognised';
  readonly original: JsonObject;
  /**
   * Its JSON as it stood in the text of its record, where that is not what `JSON.stringify` makes of `original`. It is stored
   * again byte for byte as long as it says what `original` says.
   */
  readonly text?: string;
}

/** What a record says, discriminated on `kind`. */
export type TrajectoryPayload =
  | RunStarted
  | RunEnded
  | RunResumed
  | DeadlineSet
  | CompletionChecked
  | TurnStarted
  | TurnEnded
  | MessageAppended
  | ToolStarted
  | ToolEnded
  | ProviderRequestPrepared
  | ContextTransformApplied
  | ToolGateApplied
  | ToolGateConflictResolved
  | OutputTokensEscalation
  | Compaction
  | Gap
  | Evaluation
  | PromptUsed
  | SessionEventRecorded
  | PatternFlagged
  | PatternCleared
  | FeedbackProduced
  | GuidanceProduced
  | FeedbackDeliveryRecorded
  | GuidanceDeliveryRecorded
  | ProviderFailed
  | ProviderOverran
  | ModelAnswered
  | FaultNoticed
  | AdviceAcknowledged
  | UnrecognisedPayload;
