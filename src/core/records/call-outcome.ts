import type { ValueOf } from './field-types.ts';

/**
 * How a call ended. A refused call did not run because a person, a policy, a sandbox or a hook refused it. A cancelled call was
 * stopped by the user, or skipped by the host. Neither is a failure.
 */
export type CallOutcome = ValueOf<'call_outcome'>;

/** Returns the outcome of a call. Records of earlier versions have only the error flag. */
export function outcomeOf({
  is_error: isError,
  outcome,
}: {
  readonly is_error: boolean;
  readonly outcome?: CallOutcome;
}): CallOutcome {
  return outcome ?? (isError ? 'failed' : 'ok');
}
