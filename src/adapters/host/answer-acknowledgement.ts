import type { Run } from '../../core/run/run.ts';

/**
 * Records the model's call of the acknowledge tool.
 *
 * @param args  not validated yet
 * @returns the result of the tool: a confirmation, or the reason for a rejection
 */
export function answerAcknowledgement(run: Run, args: unknown): string {
  // `acknowledge` validates every member.
  const outcome = run.acknowledge(args as Parameters<Run['acknowledge']>[0]);
  return outcome.status === 'recorded' ? 'Noted.' : outcome.reason;
}
