import type { Step } from './step.ts';

/** No model takes this long over one call: the agent was scheduled to look again later. A choice. */
const LONG_REST_MS = 15 * 60_000;

/**
 * Returns true if a call began so long after the last result that the agent must have waited on purpose.
 *
 * @param lastEndMs  Unix milliseconds; 0 if unknown
 * @param beganMs    the same
 */
export function isLongRest(lastEndMs: number, beganMs: number): boolean {
  return lastEndMs > 0 && beganMs - lastEndMs >= LONG_REST_MS;
}

/**
 * Turns a repeated look after a pause into a poll, whatever the tool is called. A failure stays a failure, unless only its words
 * say that a service cannot be reached: the service may still be starting.
 */
export function askedAfterPause(step: Step): Step {
  const asks = step.kind === 'read' || step.kind === 'unknown' || step.kind === 'execute';
  if (!asks && (step.kind !== 'ui' || step.acknowledged)) return step;
  if (step.failure === undefined) return { ...step, kind: 'poll' };
  if (!step.failure.soft || step.failure.category !== 'network') return step;
  const { failure: _unreachable, ...rest } = step;
  return { ...rest, kind: 'poll' };
}
