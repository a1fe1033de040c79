import type { TrajectoryPayload } from './trajectory-record.ts';

type Kind = TrajectoryPayload['kind'];

/** How a run begins, ends and goes on. */
export type LifeKind = 'run_started' | 'run_ended' | 'run_resumed';
/** What model and user say. */
export type TalkKind = 'turn_started' | 'turn_ended' | 'message_appended' | 'compaction';
export type CallKind = 'tool_started' | 'tool_ended';
/** How a request to the model was put together. */
export type RequestKind =
  | 'provider_request_prepared'
  | 'context_transform_applied'
  | 'tool_gate_applied'
  | 'tool_gate_conflict_resolved'
  | 'output_tokens_escalation';
/** What the host sets or tells around the agent's work. */
export type HostKind = 'deadline_set' | 'prompt_used' | 'completion_checked' | 'session_event';
export type PatternKind = 'pattern_flagged' | 'pattern_cleared';
export type ProducedKind = 'feedback_produced' | 'guidance_produced';
export type DeliveredKind = 'feedback_delivered' | 'guidance_delivered';
/** How the steering was asked, and what was answered. */
export type AskedKind = 'evaluation' | 'model_answered' | 'advice_acknowledged';
/** What went wrong on our side. */
export type FaultKind = 'provider_failed' | 'provider_overran' | 'fault_noticed';
/** What cannot be read: lost, or unknown to this version. */
export type UnreadKind = 'gap' | 'unrecognised';

/**
 * Ends a switch over record kinds that has nothing to do for these. A kind that is neither a case of the switch nor named here does
 * not compile, so a new kind is a decision in every switch, or in the group that it joins.
 */
export function passOver<Passed extends Kind>(_payload: Extract<TrajectoryPayload, { readonly kind: Passed }>): void {}
