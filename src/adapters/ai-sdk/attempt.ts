import { membersOf, isJsonObject } from '../../core/base/json.ts';
import type { Guard } from '../host/guarded.ts';
import type { AgentLoop, PreparedRequest } from './agent-loop.ts';
import { readModelAnswer } from './read-answer.ts';
import { isRefusal } from './sdk-shapes.ts';
import { addModelUsage } from './to-output.ts';

export interface ModelWatch {
  readonly loop: AgentLoop;
  readonly guard: Guard;
  readonly ready: () => Promise<unknown>;
}

export type AskModel = (request: unknown) => PromiseLike<unknown>;

export interface Attempt {
  readonly prepared: PreparedRequest;
  /** Usage of the answer before a forced turn, in the SDK's format. That answer is used if the turn fails. */
  readonly discarded?: { readonly usage: unknown };
}

/** A request whose guidance message the API rejects is repeated without it: coxswain must not make the agent fail. */
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

/** @returns the next attempt if the answer is discarded */
export function takeAnswer(attempt: Attempt, result: unknown, { loop, guard }: ModelWatch): Attempt | undefined {
  const answer = readModelAnswer(result);
  if (answer === undefined) {
    loop.unrecognised('answer', typeof result);
    return undefined;
  }
  const next = guard('an answer', () => loop.answered(attempt.prepared, answer));
  return next === undefined ? undefined : { prepared: next, discarded: { usage: membersOf(result)['usage'] } };
}

/** @returns true if the previous answer is used instead */
export function standsIn({ prepared, discarded }: Attempt, error: unknown, { loop, guard }: ModelWatch): boolean {
  const canStandIn = discarded !== undefined && !loop.isAborted(error);
  guard('asking again', () => (canStandIn ? loop.gaveUp(prepared, error) : loop.failed(prepared, error)));
  return canStandIn;
}

export function withUsage(result: unknown, { discarded }: Attempt): unknown {
  if (discarded === undefined || !isJsonObject(result)) return result;
  return { ...result, usage: addModelUsage(discarded.usage, result['usage']) };
}
