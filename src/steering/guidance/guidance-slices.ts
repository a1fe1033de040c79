import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, type Slice } from '../../session/define-slice.ts';
import { extend, none, replace } from '../../session/slice-operation.ts';
import type { ProducedGuidance, SkippedGuidance } from './ask-provider.ts';
import type { GuidanceFault as Fault } from './guidance-fault.ts';
import type { GuidanceState as State } from './evaluate-guidance.ts';
import type { StoredGuidance } from '../../records/guidance.ts';
import { appendAll } from '../../session/reducers.ts';

/** What an evaluation leaves behind besides what it says. */
export interface GuidanceEvaluated {
  readonly skipped: readonly SkippedGuidance[];
  readonly faults: readonly Fault[];
  readonly state: State;
}

/** Guidance was evaluated at a decision point. */
export const GuidanceEvaluatedEvent: EventType<GuidanceEvaluated> =
  defineEvent<GuidanceEvaluated>('guidance-evaluated');

/** The counts behind the caps of a session: one item. */
export const GuidanceStates: Slice<State> = defineSlice<State>('guidance-state', { retain: 1 }).on(
  GuidanceEvaluatedEvent,
  (_view, event) => replace([event.data.state]),
);

/** Guidance of a session that was relevant and not said, the last 200 retained. */
export const SkippedGuidances: Slice<SkippedGuidance> = defineSlice<SkippedGuidance>('guidance-skipped', {
  retain: 200,
}).on(GuidanceEvaluatedEvent, (_view, event) => (event.data.skipped.length === 0 ? none : extend(event.data.skipped)));

/** Faults of the guidance of a session, the last 200 retained. */
export const GuidanceFaults: Slice<Fault> = defineSlice<Fault>('guidance-fault', { retain: 200 }).on(
  GuidanceEvaluatedEvent,
  (_view, event) => (event.data.faults.length === 0 ? none : extend(event.data.faults)),
);

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
