import type { EndReason } from '../records/words.ts';
import { messageOf } from '../base/error.ts';
import { present } from '../base/present.ts';

import type { RunEnding } from '../records/trajectory-record.ts';
import type { Run } from '../run/run.ts';

/** Names of what is thrown when the user aborts: the platform's, and the SDKs'. */
const ABORTS: ReadonlySet<string> = new Set(['AbortError', 'APIUserAbortError']);

/** What the openai package says then; a bundler may have renamed its class. */
const ABORT_MESSAGE = 'Request was aborted.';

/** Names of what is thrown when a limit of turns or tokens is met. */
const LIMITS: Readonly<Record<string, EndReason>> = {
  MaxTurnsExceededError: 'turn_limit',
  GraphRecursionError: 'turn_limit',
  LengthFinishReasonError: 'output_limit',
};

const ERROR_CHARS = 300;

/** How a run ended that ended with an error. */
export type EndedWith = 'aborted' | 'limit' | 'error';

/** What stopped an agent, for as long as nothing shows that it went on. */
export interface Trouble {
  /** How the run ended, if this was its end. */
  readonly outcome: EndedWith;
  /** Why, where the kind of the error says. */
  readonly why?: EndReason;
  /** The error's message. */
  readonly reason: string;
}

/** What an error says of how the run ended: told by the names that the platform and the SDKs give their errors. */
export function troubleOf(error: unknown): Trouble {
  const names = namesOf(error);
  const reason = messageOf(error).slice(0, ERROR_CHARS);
  if (names.some((name) => ABORTS.has(name)) || reason === ABORT_MESSAGE) {
    return { outcome: 'aborted', why: 'interrupted', reason };
  }
  const limit = names.find((name) => Object.hasOwn(LIMITS, name));
  const why = limit === undefined ? undefined : LIMITS[limit];
  return { outcome: why === undefined ? 'error' : 'limit', reason, ...present({ why }) };
}

/** The end of a run that was stopped so. */
export function endingAfterTrouble({ outcome, why, reason }: Trouble): RunEnding {
  return { outcome, ...present({ reason: why }), ...(outcome === 'aborted' ? {} : { labels: { error: reason } }) };
}

/** Errors of the openai package are told apart by their class alone: each has the name `Error`. */
function namesOf(error: unknown): readonly string[] {
  return error instanceof Error ? [error.name, error.constructor.name] : [];
}

/**
 * Waits for the work of an agent; where it fails, the run ends with the outcome that the error tells. What the work gives
 * or throws goes through. Where it succeeds the run goes on: ending it is the host's.
 */
export async function followed<Result>(run: Run, work: PromiseLike<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    run.emit({ type: 'agent_end', ...endingAfterTrouble(troubleOf(error)) });
    throw error;
  }
}
