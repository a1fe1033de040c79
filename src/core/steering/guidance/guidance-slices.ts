import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, type Slice } from '../../session/define-slice.ts';
import { extend, none, replace } from '../../session/slice-operation.ts';
import type { SkippedGuidance, GuidanceState as State } from './evaluate-guidance.ts';
import type { GuidanceFault as Fault } from '../feedback/advice-fault.ts';
import type { StoredGuidance } from '../../records/guidance.ts';
import { appendAll } from '../../session/reducers.ts';

export interface GuidanceEvaluated {
  readonly skipped: readonly SkippedGuidance[];
  readonly faults: readonly Fault[];
  readonly state: State;
}

/** Dispatched when guidance is evaluated. */
export const GuidanceEvaluatedEvent: EventType<GuidanceEvaluated> =
  defineEvent<GuidanceEvaluated>('guidance-evaluated');

/** The counts for the limits of a session. The slice has one item. */
export const GuidanceStates: Slice<State> = defineSlice<State>('guidance-state', { retain: 1 }).on(
  GuidanceEvaluatedEvent,
  (_view, event) => replace([event.data.state]),
);

/** The skipped guidance of a session. The last 200 items are retained. */
export const SkippedGuidances: Slice<SkippedGuidance> = defineSlice<SkippedGuidance>('guidance-skipped', {
  retain: 200,
}).on(GuidanceEvaluatedEvent, (_view, event) => (event.data.skipped.length === 0 ? none : extend(event.data.skipped)));

/** The guidance faults of a session. The last 200 are retained. */
export const GuidanceFaults: Slice<Fault> = defineSlice<Fault>('guidance-fault', { retain: 200 }).on(
  GuidanceEvaluatedEvent,
  (_view, event) => (event.data.faults.length === 0 ? none : extend(event.data.faults)),
);

export type GuidanceDelivered = StoredGuidance;

/** Dispatched when guidance was delivered or could not be delivered. */
export const GuidanceDeliveredEvent: EventType<StoredGuidance> = defineEvent<StoredGuidance>('guidance-delivered');

/** All guidance of a session, delivered or not. The last 1,000 items are retained. */
export const GuidanceDelivered: Slice<StoredGuidance> = defineSlice<StoredGuidance>('guidance-delivered').on(
  GuidanceDeliveredEvent,
  appendAll,
);
