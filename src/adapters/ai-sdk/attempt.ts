import { isJsonObject } from '../../base/json.ts';
import type { Guard } from '../../host/guarded.ts';
import type { AgentLoop, PreparedRequest } from './agent-loop.ts';
import type { GeneratedAnswer } from './model-answer.ts';
import { readModelAnswer } from './read-answer.ts';
import { isRefusal } from './sdk-shapes.ts';
import { addModelUsage } from './to-output.ts';

/** Dependencies of an attempt. */
export interface ModelWatch {
  readonly loop: AgentLoop;
  readonly guard: Guard;
  /** Resolves when the recorder can accept records. The wait is bounded. */
  readonly ready: () => Promise<unknown>;
}

/** Sends a request to the model. */
export type AskModel = (request: unknown) => PromiseLike<unknown>;

/** One model request for an answer. The SDK receives the answer of the last attempt. */
export interface Attempt {
  readonly prepared: PreparedRequest;
  /** Usage of earlier answers that the SDK does not receive, in the SDK's format. */
  readonly discarded: unknown;
  /** Usage that is in no recorded message. */
  readonly unrecorded: unknown;
  /** The previous answer, used if this attempt fails. */
  readonly instead?: {
    readonly prepared: PreparedRequest;
    readonly answer: GeneratedAnswer;
    readonly isRecorded: boolean;
  };
}

/**
 * Makes the first attempt. If the API rejects the guidance message, the request is repeated without it, because coxswain must
 * not make the agent fail.
 *
 * @throws the errors of the model, after they were reported
 */
export async function askFirst(
  prepared: PreparedRequest,
  ask: AskModel,
  { loop, guard }: ModelWatch,
): Promise<unknown> {
  try {
    return markOpened(await ask(prepared.request));
  } catch (error) {
    if (prepared.advice !== undefined && isRefusal(error) && !loop.isAborted(error))
      return markOpened(await askPlain(error));
    guard('a request that failed', () => loop.failed(prepared, error));
    throw error;
  }

  function markOpened(result: unknown): unknown {
    guard('an answer that begins', () => loop.opened(prepared));
    return result;
  }

  async function askPlain(refusal: unknown): Promise<unknown> {
    try {
      const result = await ask(prepared.plain);
      guard('a message that was refused', () => loop.refusesGuidance(prepared, refusal));
      return result;
    } catch (error) {
      guard('a request that failed', () => loop.failed(prepared, error));
      throw error;
    }
  }
}

/**
 * Handles a complete answer.
 *
 * @returns the next attempt if the answer is discarded
 */
export function takeAnswer(attempt: Attempt, result: unknown, { loop, guard }: ModelWatch): Attempt | undefined {
  const answer = readModelAnswer(withUsage(result, attempt.unrecorded));
  if (answer === undefined) {
    loop.unrecognised('answer', typeof result);
    return undefined;
  }
  const retryRequest = guard('an answer', () => loop.answered(attempt.prepared, answer));
  if (retryRequest === undefined) return undefined;
  // Only a truncated answer is repeated with a higher cap. A complete answer is a separate turn.
  const isRecorded = retryRequest.attempts === 0;
  const usage = usageOf(result);
  return {
    prepared: retryRequest,
    discarded: addModelUsage(attempt.discarded, usage),
    unrecorded: isRecorded ? undefined : addModelUsage(attempt.unrecorded, usage),
    instead: { prepared: attempt.prepared, answer, isRecorded },
  };
}

/**
 * Handles the failure of a later attempt.
 *
 * @returns true if the previous answer is used instead
 */
export function standsIn({ prepared, instead }: Attempt, error: unknown, { loop, guard }: ModelWatch): boolean {
  const canStandIn = instead !== undefined && !loop.isAborted(error);
  guard('asking again', () => {
    if (!canStandIn) return loop.failed(prepared, error);
    loop.gaveUp(prepared, error);
    if (!instead.isRecorded) loop.stands(instead.prepared, instead.answer);
  });
  return canStandIn;
}

export function withUsage(result: unknown, earlierOptions: unknown): unknown {
  if (earlierOptions === undefined || !isJsonObject(result)) return result;
  return { ...result, usage: addModelUsage(earlierOptions, result['usage']) };
}

function usageOf(result: unknown): unknown {
  return isJsonObject(result) ? result['usage'] : undefined;
}
