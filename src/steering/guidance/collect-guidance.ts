import type { DecisionPoint, GuidanceInjection } from '../../records/guidance.ts';
import type { GuidanceContext } from '../prompt/guidance-provider.ts';
import type { Session } from '../../session/session.ts';
import { EMPTY_GUIDANCE_STATE, evaluateGuidance, type EvaluateGuidanceOptions } from './evaluate-guidance.ts';
import {
  GuidanceDelivered,
  guidanceDelivered,
  GuidanceDeliveredEvent,
  GuidanceEvaluatedEvent,
  GuidanceFaults,
  GuidanceStates,
  SkippedGuidances,
} from './guidance-slices.ts';

/** Where guidance is collected, and limits over all providers. */
export interface CollectGuidanceOptions extends EvaluateGuidanceOptions {
  /** Default: the context's own. */
  readonly decisionPoint?: DecisionPoint;
}

/** Sessions whose providers are being asked: a provider that collects guidance itself would never end. */
const busy = new WeakSet<Session>();

/**
 * The guidance for a decision point, in order, for a host that brings its own session and prompt. The providers are
 * the prompt's `guidanceProviders`. Counts, skips and faults are kept in slices of the session (`GuidanceStates`,
 * `SkippedGuidances`, `GuidanceFaults`), and each piece is dispatched as `GuidanceDelivered` through the channel
 * `host`, because the caller is taken to say what it gets. Nothing joins the conversation.
 *
 * Never throws for what providers do. Cost: as `evaluateGuidance`, and one or more dispatches when anything came of it.
 */
export function collectGuidance(
  context: GuidanceContext,
  options: CollectGuidanceOptions = {},
): readonly GuidanceInjection[] {
  const { session } = context;
  const decisionPoint = options.decisionPoint ?? context.decisionPoint;
  for (const slice of [GuidanceDelivered, SkippedGuidances, GuidanceFaults]) session.register(slice);
  const state = session.slice(GuidanceStates).latest() ?? EMPTY_GUIDANCE_STATE;
  const atMs = context.nowMs;
  if (busy.has(session)) {
    const message = `guidance was collected at ${decisionPoint} while providers were being asked; a provider must not do that`;
    const faults = [{ provider: '', phase: 'collect', code: 'provider-recursed', message }] as const;
    session.dispatch(GuidanceEvaluatedEvent({ skipped: [], faults, state }, { atMs }));
    return [];
  }
  busy.add(session);
  try {
    const at = decisionPoint === context.decisionPoint ? context : { ...context, decisionPoint };
    const evaluation = evaluateGuidance(context.prompt.guidanceProviders ?? [], at, state, options);
    const { produced, skipped, faults } = evaluation;
    if (produced.length + skipped.length + faults.length > 0) {
      session.dispatch(GuidanceEvaluatedEvent({ skipped, faults, state: evaluation.state }, { atMs }));
    }
    for (const item of produced) {
      const delivered = guidanceDelivered(item, { atMs, delivered: true, channel: 'host' });
      session.dispatch(GuidanceDeliveredEvent(delivered, { atMs }));
    }
    return produced.map((item) => item.injection);
  } finally {
    busy.delete(session);
  }
}

/**
 * The text of guidance as the model reads it: the contents in order, a blank line between two. Undefined when there
 * is none, so `if (text)` is enough.
 */
export function formatGuidance(injections: readonly GuidanceInjection[]): string | undefined {
  return injections.length === 0 ? undefined : injections.map((injection) => injection.content).join('\n\n');
}
