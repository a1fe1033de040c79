import type { Step } from './step.ts';

/** No model takes this long to issue a call, so the agent was scheduled to run again later. The value is an estimate. */
const LONG_REST_MS = 15 * 60_000;

/**
 * Returns true if a call started so long after the previous result that the agent must have waited on purpose.
 *
 * @param lastEndMs  time of the previous result in Unix milliseconds; 0 if unknown
 * @param beganMs    start of the call in Unix milliseconds; 0 if unknown
 */
export function isLongRest(lastEndMs: number, beganMs: number): boolean {
  return lastEndMs > 0 && beganMs - lastEndMs >= LONG_REST_MS;
}

/**
 * Changes the kind of a repeated call after a pause to `poll`, whatever the name of the tool. A failed call remains failed, unless
 * only the text of the result says that a service is unreachable: the service may still be starting.
 */
export function askedAfterPause(step: Step): Step {
  const isQuestion = step.kind === 'read' || step.kind === 'unknown' || step.kind === 'execute';
  if (!isQuestion && (step.kind !== 'ui' || step.acknowledged)) return step;
  if (step.failure === undefined) return { ...step, kind: 'poll' };
  if (!step.failure.soft || step.failure.category !== 'network') return step;
  const { failure: _unreachable, ...otherFields } = step;
  return { ...otherFields, kind: 'poll' };
}
