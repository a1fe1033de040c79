/** Why runs end, and how a person reads it. */
const END_REASONS = {
  answered: 'answered',
  rate_limit: 'rate limit',
  login: 'login failed',
  credit: 'out of credit',
  overloaded: 'model overloaded',
  server_error: 'model server error',
  context: 'context too long',
  output_limit: 'answer too long',
  turn_limit: 'turn limit',
  refused: 'refused by the model',
  invalid_request: 'request rejected',
  interrupted: 'interrupted',
} as const;

/** Why a run ended: `run_ended.reason`. */
export type EndReason = keyof typeof END_REASONS;

/** The reason in words; another host's own word as it is. */
export function endReasonText(reason: string): string {
  // `Object.hasOwn` says that it is a key.
  return Object.hasOwn(END_REASONS, reason) ? END_REASONS[reason as EndReason] : reason.replaceAll('_', ' ');
}
