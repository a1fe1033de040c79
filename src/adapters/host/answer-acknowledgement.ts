import type { Run } from '../../core/run/run.ts';

/** @returns the result of the tool: a confirmation, or the reason for a rejection */
export function answerAcknowledgement(run: Run, args: unknown): string {
  // `acknowledge` validates every member.
  const outcome = run.acknowledge(args as Parameters<Run['acknowledge']>[0]);
  return outcome.status === 'recorded' ? 'Noted.' : outcome.reason;
}
