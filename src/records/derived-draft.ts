import type { KindsThat, PayloadOf } from './field-types.ts';

/** Payloads that follow from an input. */
export type DerivedPayload = PayloadOf<KindsThat<{ readonly role: 'derived' }>>;

/** `Omit` that keeps the members of a union apart. */
type Without<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;

/** A derived payload before it is known which input led to it. */
export type DerivedDraft = Without<DerivedPayload, 'cause_seq' | 'ordinal' | 'advice_id'>;
