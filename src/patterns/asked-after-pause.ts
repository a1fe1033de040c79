import type { Step } from './step.ts';

/** No model and no host takes so long over one call: the agent was set to look again later. A choice. */
const LONG_REST_MS = 15 * 60_000;

/**
 * Whether a call began so long after the last result that the agent must have waited on purpose.
 *
 * @param lastEndMs  Unix milliseconds; 0 where unknown
 * @param beganMs    the same
 */
export function isLongRest(lastEndMs: number, beganMs: number): boolean {
  return lastEndMs > 0 && beganMs - lastEndMs >= LONG_REST_MS;
}

/**
 * Who pauses and then asks again what was asked before waits for something, whatever the tool is called. A failure is
 * none of it, unless nothing but its words tells that a service still cannot be reached: that is what one waits for while
 * it comes up.
 */
export function askedAfterPause(step: Step): Step {
  const asks = step.kind === 'read' || step.kind === 'unknown' || step.kind === 'execute';
  if (!asks && (step.kind !== 'ui' || step.acknowledged)) return step;
  if (step.failure === undefined) return { ...step, kind: 'poll' };
  if (!step.failure.soft || step.failure.category !== 'network') return step;
  const { failure: _unreachable, ...rest } = step;
  return { ...rest, kind: 'poll' };
}
