import type { Step } from './step.ts';

/**
 * Changes the kind of a repeated call after a pause to `poll`, whatever the name of the tool. A failed call remains failed, unless
 * only the text of the result says that a service is unreachable: the service may still be starting.
 */
export function askedAfterPause(step: Step): Step {
  const asks = step.kind === 'read' || step.kind === 'unknown' || step.kind === 'execute';
  if (!asks && (step.kind !== 'ui' || step.acknowledged)) return step;
  if (step.failure === undefined) return { ...step, kind: 'poll' };
  if (!step.failure.soft || step.failure.category !== 'network') return step;
  const { failure: _unreachable, ...rest } = step;
  return { ...rest, kind: 'poll' };
}
