import type { StoredGuidance } from '../../records/guidance.ts';
import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, type Slice } from '../../session/define-slice.ts';
import { appendAll } from '../../session/reducers.ts';
import type { ProducedGuidance } from './ask-provider.ts';

/** Guidance that was produced, and whether it reached the agent. */
export type GuidanceDelivered = StoredGuidance;

/** Guidance was delivered, or could not be. */
export const GuidanceDeliveredEvent: EventType<StoredGuidance> = defineEvent<StoredGuidance>('guidance-delivered');

/** All guidance of a session, delivered or not, the last 1,000 retained. */
export const GuidanceDelivered: Slice<StoredGuidance> = defineSlice<StoredGuidance>('guidance-delivered').on(
  GuidanceDeliveredEvent,
  appendAll,
);

/** How guidance fared. */
export interface GuidanceDelivery {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly delivered: boolean;
  /** How, in the adapter's words. */
  readonly channel?: string;
  /** Why not. */
  readonly reason?: string;
}

/** The record of a piece of guidance and how it fared. */
export function guidanceDelivered(produced: ProducedGuidance, delivery: GuidanceDelivery): GuidanceDelivered {
  return { ...produced, ...delivery };
}
