import type { Guard } from '../host/guarded.ts';
import type { AgentLoop, PreparedRequest } from './agent-loop.ts';
import { readModelAnswer } from './read-answer.ts';
import { isRefusal } from './sdk-shapes.ts';

export interface ModelWatch {
  readonly loop: AgentLoop;
  readonly guard: Guard;
  readonly ready: () => Promise<unknown>;
}

export type AskModel = (request: unknown) => PromiseLike<unknown>;

/** A request whose guidance message the API rejects is repeated without it: coxswain must not make the agent fail. */
export async function askModel(
  prepared: PreparedRequest,
  ask: AskModel,
  { loop, guard }: ModelWatch,
): Promise<unknown> {
  let refusal: unknown;
  const answerTo = async ({ request }: Pick<PreparedRequest, 'request'>): Promise<unknown> => {
    try {
      return await ask(request);
    } catch (error) {
      const isRefused = refusal === undefined && prepared.advice?.text !== undefined && isRefusal(error);
      if (isRefused && !loop.isAborted(error)) {
        refusal = error;
        return await answerTo({ request: prepared.plain });
      }
      guard('a request that failed', () => loop.failed(prepared, error));
      throw error;
    }
  };
  const result = await answerTo(prepared);
  if (refusal !== undefined) guard('a message that was refused', () => loop.refusesGuidance(prepared, refusal));
  guard('an answer that begins', () => loop.opened(prepared));
  return result;
}

export function takeAnswer(prepared: PreparedRequest, result: unknown, { loop, guard }: ModelWatch): void {
  const answer = readModelAnswer(result);
  if (answer === undefined) loop.unrecognised('answer', typeof result);
  else guard('an answer', () => loop.answered(prepared, answer));
}
