import { textOrEmpty, textOrUndefined } from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';
import type { CallOutcome } from '../../core/records/trajectory-record.ts';

export interface IssuedCall {
  /** The host's call id. Empty if the host sends no id. */
  readonly id: string;
  readonly name: string;
  /** Arguments parsed as JSON, or the text if it is not JSON. */
  readonly args: unknown;
  /** The arguments as the model wrote them. Used to distinguish calls of one tool. */
  readonly argsText: string;
  /** Result of a call that the provider ran. It is part of the model's answer. */
  readonly answer?: CallResult;
}

/** A call whose arguments the host gives as a value. */
export function issuedCall({
  args = {},
  id,
  name,
}: {
  readonly [Name in 'args' | 'id' | 'name']?: unknown;
}): IssuedCall {
  const argsText = JSON.stringify(toJson(args));
  return { id: textOrEmpty(id), name: textOrUndefined(name) ?? 'unknown', args, argsText };
}

export interface CallResult {
  /** The result as the model sees it: a string, or the host's structured result. */
  readonly result: unknown;
  readonly isError: boolean;
  /** Set if the host states that the call was refused or cancelled. Default: from `isError` and the host's text. */
  readonly outcome?: CallOutcome | undefined;
}
