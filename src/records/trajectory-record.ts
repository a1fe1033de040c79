import type { JsonObject } from '../base/json.ts';
import type { KnownKind, PayloadOf, ShapeOf } from './field-types.ts';

/** Schema version of new records. A record without `schema_version` has version 0. */
export const TRAJECTORY_SCHEMA_VERSION = 1;

/**
 * One record of a run, as stored.
 *
 * `seq` is gapless per run and starts at 0.
 */
export interface TrajectoryRecord {
  readonly schema_version: number;
  readonly seq: number;
  /** Absent if the run was never identified. */
  readonly run_id?: string;
  readonly parent_run_id?: string;
  /** 0 for a root run. */
  readonly depth: number;
  /** Unix milliseconds of the event; 0 if an imported source has no time. */
  readonly recorded_at_unix_ms: number;
  /**
   * Id of the input, if the store could not take it when it arrived. All records of one input share the id, so that it is
   * never folded twice. Absent for records that were stored at once.
   */
  readonly late_input_id?: string;
  readonly payload: TrajectoryPayload;
}

/** A payload of an unknown kind, kept whole. Its stored `kind` is `original.kind`. */
export interface UnrecognisedPayload {
  readonly kind: 'unrecognised';
  readonly original: JsonObject;
  /**
   * Its source text, if that differs from `JSON.stringify(original)`. Stored byte for byte while it is equivalent to
   * `original`.
   */
  readonly text?: string;
}

/** Discriminated on `kind`; the kinds are defined in `kinds.ts`. */
export type TrajectoryPayload = PayloadOf<KnownKind> | UnrecognisedPayload;

export type RunStarted = PayloadOf<'run_started'>;
export type RunIdentified = PayloadOf<'run_identified'>;
export type ChildEnded = PayloadOf<'child_ended'>;
export type RunEnded = PayloadOf<'run_ended'>;
export type RunEnding = Pick<RunEnded, 'outcome' | 'reason' | 'labels'>;
export type ToolStarted = PayloadOf<'tool_started'>;
export type ToolEnded = PayloadOf<'tool_ended'>;
export type Evaluation = PayloadOf<'evaluation'>;
export type PatternFlagged = PayloadOf<'pattern_flagged'>;
export type PatternCleared = PayloadOf<'pattern_cleared'>;
export type FeedbackProduced = PayloadOf<'feedback_produced'>;
export type GuidanceProduced = PayloadOf<'guidance_produced'>;
export type AdviceAcknowledged = PayloadOf<'advice_acknowledged'>;
/** Steering at the start of a run. */
export type SteeringStart = ShapeOf<'steering'>;
/** Limits or usage of a run. */
export type StoredBudget = ShapeOf<'budget'>;
/** A call that has not run yet. */
export type StoredPendingCall = ShapeOf<'pending_call'>;

/** Identity of a run, as stored. A child run (a subagent) has its parent's id and one more level of depth. */
export type RunIdentity = ShapeOf<'identity'>;
