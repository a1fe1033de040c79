import { isJsonObject } from '../base/json.ts';
import type { CallOutcome } from '../records/trajectory-record.ts';

/** The error of a call that a person or a policy refused. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused';
  readonly outcome = 'refused';
}

/**
 * Returns an error for a tool to throw if a person or a policy did not let it run: `throw refusal('The user said no.')`. The call is
 * recorded as refused, so that no advice leads the agent round it. An error of your own with `outcome: 'refused'` does the same.
 *
 * @param reason  what the agent reads as the tool's error
 */
export function refusal(reason: string): CallRefused {
  return new CallRefused(reason);
}

/** Reads the outcome in an error, or in a result with `isError: true`. */
export function statedOutcome(value: unknown): Extract<CallOutcome, 'refused' | 'cancelled'> | undefined {
  if (!(value instanceof Error) && !(isJsonObject(value) && value['isError'] === true)) return undefined;
  const outcome: unknown = Reflect.get(value, 'outcome');
  return outcome === 'refused' || outcome === 'cancelled' ? outcome : undefined;
}
