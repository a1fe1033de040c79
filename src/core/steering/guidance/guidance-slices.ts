import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, type Slice, extend, none, replace, appendAll } from '../../session/define-slice.ts';

import type { InjectionProblem } from '../feedback/check-draft.ts';
import type { AdviceFault as Fault } from '../advice-engine.ts';
import type { ClassificationResult, DecisionPoint, StoredGuidance } from '../../records/spoken-advice.ts';

/** Relevant guidance that was not given. Plain JSON. */
export interface SkippedGuidance {
  readonly providerName: string;
  readonly decisionPoint: DecisionPoint;
  readonly classification: ClassificationResult;
  /**
   * Why the guidance was skipped. `low-confidence`: the confidence is below `minConfidence`. `nothing-provided`: `provide`
   * returned undefined. `invalid-…`: the draft breaks a rule. `cooldown`, `max-per-run`, `max-per-turn`: a limit of the
   * provider was reached. `same-category`: other guidance of that category has precedence. `turn-full`: the limit per turn
   * of all providers was reached. `after-refusal`: a call was refused a short time ago (`GuidanceProvider.afterRefusals`).
   * `not-admitted`: `admit` returned false.
   */
  readonly reason:
    | 'low-confidence'
    | 'nothing-provided'
    | InjectionProblem
    | 'cooldown'
    | 'max-per-run'
    | 'max-per-turn'
    | 'same-category'
    | 'turn-full'
    | 'after-refusal'
    | 'not-admitted';
  /** Key of the injection, if it is valid. */
  readonly key?: string;
}

export interface GuidanceUse {
  /** The last turn in which guidance was given. */
  readonly turn: number;
  readonly inTurn: number;
  readonly inRun: number;
}

/** The counts for the limits. Plain JSON. Its size is bounded by the number of providers. */
export interface GuidanceState {
  /** The last turn in which guidance was given. */
  readonly turn: number;
  /** Number of guidance texts of all providers in that turn. */
  readonly inTurn: number;
  readonly providers: Readonly<Record<string, GuidanceUse>>;
}

export interface GuidanceEvaluated {
  readonly skipped: readonly SkippedGuidance[];
  readonly faults: readonly Fault[];
  readonly state: GuidanceState;
}

export const GuidanceEvaluatedEvent: EventType<GuidanceEvaluated> =
  defineEvent<GuidanceEvaluated>('guidance-evaluated');

/** The counts for the limits of a session. The slice has one item. */
export const GuidanceStates: Slice<GuidanceState> = defineSlice<GuidanceState>('guidance-state', { retain: 1 }).on(
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
