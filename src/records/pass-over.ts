import type { ASKED, DELIVERED, PATTERNS, PRODUCED } from './advice-kinds.ts';
import type { CALLS, FAULTS, HOST, LIFE, LOST, REQUESTS, TALK } from './kinds.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';

/** The record kinds of each group. */
interface Groups {
  readonly life: keyof typeof LIFE;
  readonly talk: keyof typeof TALK;
  readonly calls: keyof typeof CALLS;
  readonly requests: keyof typeof REQUESTS;
  readonly host: keyof typeof HOST;
  readonly patterns: keyof typeof PATTERNS;
  readonly produced: keyof typeof PRODUCED;
  readonly delivered: keyof typeof DELIVERED;
  readonly asked: keyof typeof ASKED;
  readonly faults: keyof typeof FAULTS;
  /** Lost records, and records of kinds that this version does not know. */
  readonly unread: keyof typeof LOST | 'unrecognised';
}

type KindsOf<Name> = Name extends keyof Groups ? Groups[Name] : Name;

/**
 * Ends a switch over record kinds that ignores the rest of these groups and kinds. The code does not compile if a kind is
 * neither a case nor named here. A new kind therefore requires a decision in every switch, or in its group.
 */
export function passOver<Passed extends keyof Groups | TrajectoryPayload['kind']>(
  _payload: Extract<TrajectoryPayload, { readonly kind: KindsOf<Passed> }>,
): void {}
