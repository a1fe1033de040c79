import type { Run } from '../run/run.ts';

/**
 * Takes what a model sent to the acknowledge tool, whatever it is.
 *
 * @returns what the tool answers: that it was recorded, or why not
 */
export function answerAcknowledgement(run: Run, args: unknown): string {
  // `acknowledge` looks at every member itself and refuses what it cannot use.
  const outcome = run.acknowledge(args as Parameters<Run['acknowledge']>[0]);
  return outcome.status === 'recorded' ? 'Noted.' : outcome.reason;
}
