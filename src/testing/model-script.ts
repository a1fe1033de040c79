import type { Json, JsonObject } from '../core/base/json.ts';

export interface ModelCall {
  /** Default: `call_TURN_CALL` with both numbers from 1, so that a script always produces the same ids. */
  readonly id?: string;
  readonly name: string;
  readonly args: Json;
}

/** The token counts of one response. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Default: 0. */
  readonly cacheReadTokens?: number;
}

/** One response of a scripted model, independent of the model provider. */
export interface ModelTurn {
  readonly text?: string;
  /** Tool calls of the response, issued in parallel. */
  readonly calls?: readonly ModelCall[];
  /** Items of OpenAI's Responses API before text and calls, such as `web_search_call` or `shell_call`. Ignored by other APIs. */
  readonly items?: readonly JsonObject[];
  /** Default: `tool-calls` if there are calls, else `stop`. */
  readonly finish?: ModelFinish;
  /** Default: `DEFAULT_USAGE`. */
  readonly usage?: ModelUsage;
  /** Delay of the response in milliseconds. Default: `answerAfterMs` of the server. */
  readonly answerAfterMs?: number;
  /** Simulates a later version of the API: every object has an unknown field, and the first item has an unknown type. */
  readonly fromTheFuture?: boolean;
}

export type ModelFinish = 'stop' | 'tool-calls' | 'length';

/** An error response of the model API. */
export interface ModelFault {
  readonly error: {
    /** HTTP status; default: 500. */
    readonly status?: number;
    readonly message?: string;
    /** Closes the connection in the middle of the body instead of sending an error status. */
    readonly isTruncated?: boolean;
    /** Value of the header `x-should-retry`; default: false. */
    readonly mayRetry?: boolean;
  };
  readonly answerAfterMs?: number;
}

/** The responses of a scripted model, in the order of the requests. */
export interface ModelScript {
  readonly turns: readonly (ModelTurn | ModelFault)[];
}

/** @param index  index among the main requests, from 0 */
export type ModelFunction = (request: unknown, index: number) => ModelTurn | ModelFault;

const DEFAULT_USAGE: ModelUsage = { inputTokens: 100, outputTokens: 20 };

/** The response to requests beyond the end of a script. */
export const AFTER_SCRIPT: ModelTurn = { text: 'The script has ended.' };

/** Returns the response of a script to a request. */
export function scriptedAnswer(
  script: ModelScript | ModelFunction,
  request: unknown,
  index: number,
): ModelTurn | ModelFault {
  return typeof script === 'function' ? script(request, index) : (script.turns[index] ?? AFTER_SCRIPT);
}

export function isFault(answer: ModelTurn | ModelFault): answer is ModelFault {
  return 'error' in answer;
}

/** Maps the calls of a script, for example to the tool names of an SDK. */
export function mapModelCalls(script: ModelScript | ModelFunction, map: (call: ModelCall) => ModelCall): ModelFunction {
  return (request, index) => {
    const answer = scriptedAnswer(script, request, index);
    if (isFault(answer) || answer.calls === undefined) return answer;
    return { ...answer, calls: answer.calls.map(map) };
  };
}

/** Splits a text into up to three chunks of similar length, as in a stream. Does not split characters. */
export function pieces(text: string): readonly string[] {
  const characters = Array.from(text);
  const size = Math.max(1, Math.ceil(characters.length / 3));
  const parts: string[] = [];
  for (let from = 0; from < characters.length; from += size) parts.push(characters.slice(from, from + size).join(''));
  return parts;
}

/** A turn with all defaults filled in. */
export interface CompleteTurn {
  readonly text: string | undefined;
  readonly calls: readonly Required<ModelCall>[];
  readonly items: readonly JsonObject[];
  readonly finish: ModelFinish;
  readonly usage: Required<ModelUsage>;
  readonly fromTheFuture: boolean;
}

/** @param index  index among the main requests, from 0; used in call ids */
export function completeTurn(turn: ModelTurn, index: number): CompleteTurn {
  const calls = (turn.calls ?? []).map((call, at) => ({
    id: call.id ?? `call_${index + 1}_${at + 1}`,
    name: call.name,
    args: call.args,
  }));
  return {
    text: turn.text,
    calls,
    items: turn.items ?? [],
    finish: turn.finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'),
    usage: { cacheReadTokens: 0, ...(turn.usage ?? DEFAULT_USAGE) },
    fromTheFuture: turn.fromTheFuture === true,
  };
}
