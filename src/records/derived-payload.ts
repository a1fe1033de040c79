import type { KindsThat, PayloadOf } from './field-types.ts';
import { roleOf } from './kind-definition.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';

/** Payloads derived from an input. */
export type DerivedPayload = PayloadOf<KindsThat<{ readonly role: 'derived' }>>;

/** `Omit` that distributes over unions. */
type Without<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;

/** A derived payload without its cause. */
export type DerivedDraft = Without<DerivedPayload, 'cause_seq' | 'ordinal' | 'advice_id'>;

/** True for a payload that a replay derives again. */
export function isDerived(payload: TrajectoryPayload): payload is DerivedPayload {
  return roleOf(payload) === 'derived';
}
