import { isJsonObject } from '../../base/json.ts';
import type { Guard } from '../../host/guarded.ts';
import type { AgentLoop, PreparedRequest } from './agent-loop.ts';
import type { GeneratedAnswer } from './model-answer.ts';
import { readModelAnswer } from './read-answer.ts';
import { isRefusal } from './sdk-shapes.ts';
import { addModelUsage } from './to-output.ts';

/** What stands between the SDK and a model. */
export interface ModelWatch {
  readonly loop: AgentLoop;
  readonly guard: Guard;
  /** Resolves when the recorder has room; bounded. */
  readonly ready: () => Promise<unknown>;
}

/** Sends a request to the model. */
export type AskModel = (request: unknown) => PromiseLike<unknown>;

/** One time the model is asked for an answer; the SDK gets the last one. */
export interface Attempt {
  readonly asked: PreparedRequest;
  /** Usage, in the SDK's form, of the answers before it, which the SDK does not see. */
  readonly discarded: unknown;
  /** What of it no recorded message has. */
  readonly unrecorded: unknown;
  /** The answer before it, which the SDK gets should this attempt fail. */
  readonly instead?: {
    readonly asked: PreparedRequest;
    readonly answer: GeneratedAnswer;
    readonly isRecorded: boolean;
  };
}

/**
 * Asks for the first time. Where an API refuses the message that brings guidance, it is asked again without, for the
 * agent must not fail through us.
 *
 * @throws what the model throws, told of
 */
export async function askFirst(asked: PreparedRequest, ask: AskModel, { loop, guard }: ModelWatch): Promise<unknown> {
  try {
    return opened(await ask(asked.request));
  } catch (error) {
    if (asked.advice !== undefined && isRefusal(error) && !loop.isAborted(error)) return opened(await askPlain(error));
    guard('a request that failed', () => loop.failed(asked, error), undefined);
    throw error;
  }

  function opened(result: unknown): unknown {
    guard('an answer that begins', () => loop.opened(asked), undefined);
    return result;
  }

  async function askPlain(refusal: unknown): Promise<unknown> {
    try {
      const result = await ask(asked.plain);
      guard('a message that was refused', () => loop.refusesGuidance(asked, refusal), undefined);
      return result;
    } catch (error) {
      guard('a request that failed', () => loop.failed(asked, error), undefined);
      throw error;
    }
  }
}

/** Takes a whole answer. @returns the attempt to make instead, where it does not stand */
export function takeAnswer(attempt: Attempt, result: unknown, { loop, guard }: ModelWatch): Attempt | undefined {
  const answer = readModelAnswer(withUsage(result, attempt.unrecorded));
  if (answer === undefined) {
    loop.unrecognised('answer', typeof result);
    return undefined;
  }
  const asked = guard('an answer', () => loop.answered(attempt.asked, answer), undefined);
  if (asked === undefined) return undefined;
  // Only what was cut off is asked for with a higher cap; what was complete is a turn of its own.
  const isRecorded = asked.attempts === 0;
  const usage = usageOf(result);
  return {
    asked,
    discarded: addModelUsage(attempt.discarded, usage),
    unrecorded: isRecorded ? undefined : addModelUsage(attempt.unrecorded, usage),
    instead: { asked: attempt.asked, answer, isRecorded },
  };
}

/** A later attempt failed. @returns true when the answer before it stands in for it */
export function standsIn({ asked, instead }: Attempt, error: unknown, { loop, guard }: ModelWatch): boolean {
  const canStandIn = instead !== undefined && !loop.isAborted(error);
  guard(
    'asking again',
    () => {
      if (!canStandIn) return loop.failed(asked, error);
      loop.gaveUp(asked, error);
      if (!instead.isRecorded) loop.stands(instead.asked, instead.answer);
    },
    undefined,
  );
  return canStandIn;
}

/** The result, with the usage of earlier answers added to its own. */
export function withUsage(result: unknown, earlier: unknown): unknown {
  if (earlier === undefined || !isJsonObject(result)) return result;
  return { ...result, usage: addModelUsage(earlier, result['usage']) };
}

function usageOf(result: unknown): unknown {
  return isJsonObject(result) ? result['usage'] : undefined;
}
