import { invalidArgument } from '../../base/error.ts';
import { DECISION_POINTS, type DecisionPoint, type GuidanceInjection } from '../../records/guidance.ts';
import type { GuidanceContext } from '../prompt/guidance-provider.ts';
import type { Session } from '../../session/session.ts';
import { EMPTY_GUIDANCE_STATE, evaluateGuidance, type EvaluateGuidanceOptions } from './evaluate-guidance.ts';
import {
  GuidanceDelivered,
  GuidanceDeliveredEvent,
  GuidanceEvaluatedEvent,
  GuidanceFaults,
  GuidanceStates,
  SkippedGuidances,
} from './guidance-slices.ts';

export interface CollectGuidanceOptions extends EvaluateGuidanceOptions {
  /** Default: the decision point of the context. */
  readonly decisionPoint?: DecisionPoint;
}

/** Sessions whose providers are running. A provider that collects guidance itself would otherwise never end. */
const busySessions = new WeakSet<Session>();

/**
 * Returns the guidance of the prompt's `guidanceProviders` at a decision point, in order. It is for a host with its own
 * session. Counts, skips and faults are kept in slices of the session (`GuidanceStates`, `SkippedGuidances`,
 * `GuidanceFaults`). Each guidance text is dispatched as `GuidanceDelivered` with the channel `host`, and the caller must
 * deliver it.
 *
 * Never throws because of a provider.
 *
 * @throws CoxswainError "invalid-argument" for an unknown decision point
 *
 * Cost: as `evaluateGuidance`, and a dispatch per result.
 */
export function collectGuidance(
  context: GuidanceContext,
  options: CollectGuidanceOptions = {},
): readonly GuidanceInjection[] {
  const { session } = context;
  const decisionPoint = options.decisionPoint ?? context.decisionPoint;
  if (!DECISION_POINTS.includes(decisionPoint)) {
    const points = DECISION_POINTS.join(', ');
    throw invalidArgument(`"${decisionPoint}" is not a decision point; use one of ${points}`);
  }
  for (const slice of [GuidanceDelivered, SkippedGuidances, GuidanceFaults]) session.register(slice);
  const state = session.slice(GuidanceStates).latest() ?? EMPTY_GUIDANCE_STATE;
  const atMs = context.nowMs;
  if (busySessions.has(session)) {
    const message = `guidance was collected at ${decisionPoint} by a provider; providers must not collect guidance`;
    const faults = [{ provider: '', phase: 'collect', code: 'provider-recursed', message }] as const;
    session.dispatch(GuidanceEvaluatedEvent({ skipped: [], faults, state }, { atMs }));
    return [];
  }
  busySessions.add(session);
  try {
    const pointContext = decisionPoint === context.decisionPoint ? context : { ...context, decisionPoint };
    const evaluation = evaluateGuidance(context.prompt.guidanceProviders ?? [], pointContext, state, options);
    const { produced, skipped, faults } = evaluation;
    if (produced.length + skipped.length + faults.length > 0) {
      session.dispatch(GuidanceEvaluatedEvent({ skipped, faults, state: evaluation.state }, { atMs }));
    }
    for (const item of produced) {
      session.dispatch(GuidanceDeliveredEvent({ ...item, atMs, delivered: true, channel: 'host' }, { atMs }));
    }
    return produced.map((item) => item.injection);
  } finally {
    busySessions.delete(session);
  }
}

/** Joins guidance into a text for the model, with blank lines. Returns undefined if there is no guidance. */
export function formatGuidance(injections: readonly GuidanceInjection[]): string | undefined {
  return injections.length === 0 ? undefined : injections.map((injection) => injection.content).join('\n\n');
}
