import type { KindsThat, PayloadOf } from './field-types.ts';
import { roleOf } from './kind-definition.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';

/** Payloads that are derived from an input record. */
export type DerivedPayload = PayloadOf<KindsThat<{ readonly role: 'derived' }>>;

/** Works like `Omit`, but distributes over unions. */
type Without<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;

export type DerivedDraft = Without<DerivedPayload, 'cause_seq' | 'ordinal' | 'advice_id'>;

/** Returns true for a payload that a replay derives again. */
export function isDerived(payload: TrajectoryPayload): payload is DerivedPayload {
  return roleOf(payload) === 'derived';
}
