import type { JsonObject } from '../base/json.ts';
import type { PayloadOf, ShapeOf, ValueOf } from './shapes.ts';
import type { KINDS } from './kinds.ts';

/** Schema version of new records. A record without `schema_version` has version 0. */
export const TRAJECTORY_SCHEMA_VERSION = 1;

/** One record of a run, as stored. `seq` starts at 0 for each run and has no gaps. */
export interface TrajectoryRecord {
  readonly schema_version: number;
  readonly seq: number;
  /** Absent if no source stated the id of the run. */
  readonly run_id?: string;
  readonly parent_run_id?: string;
  /** The number of ancestors; 0 for a root run. */
  readonly depth: number;
  /** Unix milliseconds of the event. 0 if an imported source states no time. */
  readonly recorded_at_unix_ms: number;
  /** All records of an input that was stored late share it, so that the input is folded once. Absent for any other. */
  readonly late_input_id?: string;
  readonly payload: TrajectoryPayload;
}

/** A payload of an unknown kind, which is kept as a whole. Its stored `kind` is `original.kind`. */
export interface UnrecognisedPayload {
  readonly kind: 'unrecognised';
  readonly original: JsonObject;
  /** The source text, if it differs from `JSON.stringify(original)`, kept byte for byte while it is equivalent. */
  readonly text?: string;
}

/** The field `kind` selects the variant. The kinds are defined in `kinds.ts`. */
export type TrajectoryPayload = PayloadOf<keyof typeof KINDS> | UnrecognisedPayload;

export type RunStarted = PayloadOf<'run_started'>;
export type RunIdentified = PayloadOf<'run_identified'>;
export type ChildEnded = PayloadOf<'child_ended'>;
export type RunEnded = PayloadOf<'run_ended'>;
export type RunEnding = Pick<PayloadOf<'run_ended'>, 'outcome' | 'reason' | 'labels'>;
export type ToolStarted = PayloadOf<'tool_started'>;
export type ToolEnded = PayloadOf<'tool_ended'>;
export type Evaluation = PayloadOf<'evaluation'>;
export type PatternFlagged = PayloadOf<'pattern_flagged'>;
export type PatternCleared = PayloadOf<'pattern_cleared'>;
export type FeedbackProduced = PayloadOf<'feedback_produced'>;
export type GuidanceProduced = PayloadOf<'guidance_produced'>;
export type AdviceAcknowledged = PayloadOf<'advice_acknowledged'>;
export type SteeringStart = ShapeOf<'steering'>;
export type StoredBudget = ShapeOf<'budget'>;
export type StoredPendingCall = ShapeOf<'pending_call'>;

/** The identity of a run, as stored. A child run (a subagent) has its parent's id, and its depth is one greater. */
export type RunIdentity = ShapeOf<'identity'>;

/** `refused` by a person, a policy, a sandbox or a hook; `cancelled` by the user, or skipped by the host. Neither is a failure. */
export type CallOutcome = ValueOf<'call_outcome'>;

/** Returns the outcome of a call. Records of earlier versions have only the error flag. */
export function outcomeOf({
  is_error: isError,
  outcome,
}: {
  readonly is_error: boolean;
  readonly outcome?: CallOutcome;
}): CallOutcome {
  return outcome ?? (isError ? 'failed' : 'ok');
}
