import { messageOf } from '../base/error.ts';
import type { Run } from '../run/run.ts';

/** Names of what is thrown when the user aborts: the platform's, and the SDKs'. */
const ABORTS: ReadonlySet<string> = new Set(['AbortError', 'APIUserAbortError']);

/** What the openai package says then; a bundler may have renamed its class. */
const ABORT_MESSAGE = 'Request was aborted.';

/** Names of what is thrown when a limit of turns or tokens is met. */
const LIMITS: ReadonlySet<string> = new Set(['MaxTurnsExceededError', 'LengthFinishReasonError']);

const ERROR_CHARS = 300;

/** How a run ended that ended with an error. */
export type EndedWith = 'aborted' | 'limit' | 'error';

/** What an error says of how the run ended: told by the names that the platform and the SDKs give their errors. */
export function outcomeOf(error: unknown): EndedWith {
  const names = namesOf(error);
  if (names.some((name) => ABORTS.has(name)) || messageOf(error) === ABORT_MESSAGE) return 'aborted';
  return names.some((name) => LIMITS.has(name)) ? 'limit' : 'error';
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
    const outcome = outcomeOf(error);
    const message = messageOf(error).slice(0, ERROR_CHARS);
    run.emit({ type: 'agent_end', outcome, ...(outcome === 'aborted' ? {} : { labels: { error: message } }) });
    throw error;
  }
}
