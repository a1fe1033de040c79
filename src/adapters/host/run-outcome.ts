import type { EndReason } from '../../core/records/words.ts';
import { messageOf } from '../../core/base/error.ts';
import { present } from '../../core/base/json.ts';

import type { RunEnding } from '../../core/records/trajectory-record.ts';
import type { Run } from '../../core/run/run.ts';

/** Names of the errors that the platform and the SDKs throw when the program aborts. */
const ABORTS: ReadonlySet<string> = new Set(['AbortError', 'APIUserAbortError', 'ResponseAborted']);

/** Names of the errors of a time limit: `AbortSignal.timeout` aborts by the first. */
const TIMEOUTS: ReadonlySet<string> = new Set(['TimeoutError', 'APIConnectionTimeoutError']);

/** Message of the openai package's abort error. Needed because a bundler may have renamed the class. */
const ABORT_MESSAGE = 'Request was aborted.';

/** Names of the errors that are thrown at a limit of turns or tokens. */
const LIMITS: Readonly<Record<string, EndReason>> = {
  MaxTurnsExceededError: 'turn_limit',
  GraphRecursionError: 'turn_limit',
  LengthFinishReasonError: 'output_limit',
};

const ERROR_CHARS = 300;

/** The outcome of a run that ended with an error. */
export type EndedWith = 'aborted' | 'limit' | 'error';

/** An error. It ends the agent unless the agent continues. */
export interface Trouble {
  readonly outcome: EndedWith;
  /** Reason of the end. Set if the kind of error implies one. */
  readonly why?: EndReason;
  readonly reason: string;
}

/** The reader of a streamed answer left before its end. */
export const STREAM_LEFT: Trouble = { outcome: 'aborted', reason: 'the stream was cancelled' };

/** The trouble of a run whose program aborted its signal, as by `AbortSignal.timeout`. */
export function abortedBy(signal: { readonly reason?: unknown } | undefined): Trouble {
  const reason = signal?.reason;
  return isTimeout(reason) ? troubleOf(reason) : { outcome: 'aborted', reason: 'the request was aborted' };
}

/** Classifies an error by the names that the platform and the SDKs use. */
export function troubleOf(error: unknown): Trouble {
  const names = namesOf(error);
  const reason = messageOf(error).slice(0, ERROR_CHARS);
  if (isTimeout(error)) return { outcome: 'aborted', why: 'timeout', reason };
  // A program aborts for reasons of its own, so that no person need have stopped it.
  if (names.some((name) => ABORTS.has(name)) || reason === ABORT_MESSAGE) return { outcome: 'aborted', reason };
  const limit = names.find((name) => Object.hasOwn(LIMITS, name));
  const limitReason = limit === undefined ? undefined : LIMITS[limit];
  return { outcome: limitReason === undefined ? 'error' : 'limit', reason, ...present({ why: limitReason }) };
}

export function endingAfterTrouble({ outcome, why, reason }: Trouble): RunEnding {
  const isAbort = outcome === 'aborted' && why === undefined;
  return { outcome, ...present({ reason: why }), ...(isAbort ? {} : { labels: { error: reason } }) };
}

function isTimeout(error: unknown): boolean {
  return namesOf(error).some((name) => TIMEOUTS.has(name));
}

/** Names of the error and its classes. All errors of the openai package have the name `Error` and differ only by class. */
function namesOf(error: unknown): readonly string[] {
  return error instanceof Error ? [error.name, error.constructor.name] : [];
}

/** On success, the host must end the run. Throws the error of the work. */
export async function followed<Result>(run: Run, work: PromiseLike<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    run.emit({ type: 'agent_end', ...endingAfterTrouble(troubleOf(error)) });
    throw error;
  }
}
