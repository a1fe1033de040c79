import type { JsonObject } from '../base/json.ts';
import type { KnownKind, PayloadOf, ShapeOf } from './field-types.ts';

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

/** What a record says, discriminated on `kind`; the kinds are defined in `kinds.ts`. */
export type TrajectoryPayload = PayloadOf<KnownKind> | UnrecognisedPayload;

export type RunStarted = PayloadOf<'run_started'>;
export type RunIdentified = PayloadOf<'run_identified'>;
export type ChildEnded = PayloadOf<'child_ended'>;
export type RunEnded = PayloadOf<'run_ended'>;
/** How a run ended, as `run_ended` says it, without what else stands there. */
export type RunEnding = Pick<RunEnded, 'outcome' | 'reason' | 'labels'>;
export type ToolStarted = PayloadOf<'tool_started'>;
export type ToolEnded = PayloadOf<'tool_ended'>;
export type Evaluation = PayloadOf<'evaluation'>;
export type PatternFlagged = PayloadOf<'pattern_flagged'>;
export type PatternCleared = PayloadOf<'pattern_cleared'>;
export type FeedbackProduced = PayloadOf<'feedback_produced'>;
export type GuidanceProduced = PayloadOf<'guidance_produced'>;
export type AdviceAcknowledged = PayloadOf<'advice_acknowledged'>;
/** How the steering of a run began. */
export type SteeringStart = ShapeOf<'steering'>;
/** Limits of a run, or what of them was used. */
export type StoredBudget = ShapeOf<'budget'>;
/** A call the model asked for and that has not run yet. */
export type StoredPendingCall = ShapeOf<'pending_call'>;
