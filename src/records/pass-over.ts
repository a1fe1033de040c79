import type { ASKED, CALLS, DELIVERED, FAULTS, HOST, LIFE, LOST, PATTERNS, PRODUCED, REQUESTS, TALK } from './kinds.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';

type Kind = TrajectoryPayload['kind'];

export type LifeKind = keyof typeof LIFE;
export type TalkKind = keyof typeof TALK;
export type CallKind = keyof typeof CALLS;
export type RequestKind = keyof typeof REQUESTS;
export type HostKind = keyof typeof HOST;
export type PatternKind = keyof typeof PATTERNS;
export type ProducedKind = keyof typeof PRODUCED;
export type DeliveredKind = keyof typeof DELIVERED;
export type AskedKind = keyof typeof ASKED;
export type FaultKind = keyof typeof FAULTS;
/** What cannot be read: lost, or unknown to this version. */
export type UnreadKind = keyof typeof LOST | 'unrecognised';

/**
 * Ends a switch over record kinds that has nothing to do for the rest of these groups. A kind that is neither a case of the switch nor in
 * one of the groups does not compile, so a new kind is a decision in every switch, or in the group that it joins.
 */
export function passOver<Passed extends Kind>(_payload: Extract<TrajectoryPayload, { readonly kind: Passed }>): void {}
