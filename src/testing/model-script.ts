import type { Json, JsonObject } from '../base/json.ts';

/** A tool call that a scripted model asks for. */
export interface ModelCall {
  /** Default `call_TURN_CALL`, both counted from 1, so that the same script gives the same ids everywhere. */
  readonly id?: string;
  readonly name: string;
  readonly args: Json;
}

/** Tokens of one answer. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Default 0. */
  readonly cacheReadTokens?: number;
}

/** One answer of a scripted model. Every provider's way of saying it is made from this. */
export interface ModelTurn {
  readonly text?: string;
  /** Asked for together: run in parallel by SDKs that do so. */
  readonly calls?: readonly ModelCall[];
  /** Items of Responses as OpenAI writes them, before text and calls: `web_search_call`, `shell_call`. Other APIs have none. */
  readonly items?: readonly JsonObject[];
  /** Default `tool-calls` where there are calls, else `stop`. */
  readonly finish?: ModelFinish;
  /** Default `DEFAULT_USAGE`. */
  readonly usage?: ModelUsage;
  /** How long the answer takes; default: the server's `answerAfterMs`. */
  readonly answerAfterMs?: number;
  /**
   * As a later version of the API might answer: every object has a field that is unknown today, and one item of an
   * unknown type comes first.
   */
  readonly fromTheFuture?: boolean;
}

/** Why an answer ended. */
export type ModelFinish = 'stop' | 'tool-calls' | 'length';

/** An answer that goes wrong. */
export interface ModelFault {
  readonly error: {
    /** HTTP status of the answer; default 500. */
    readonly status?: number;
    readonly message?: string;
    /** Instead of an error status: the connection breaks in the middle of the body, streaming or not. */
    readonly isTruncated?: boolean;
    /** The server lets clients try again; default false: it tells them not to (`x-should-retry`). */
    readonly mayRetry?: boolean;
  };
  readonly answerAfterMs?: number;
}

/** What a scripted model answers, request by request. */
export interface ModelScript {
  readonly turns: readonly (ModelTurn | ModelFault)[];
}

/** Answers by the request and its index among the main requests, from 0. */
export type ModelFunction = (request: unknown, index: number) => ModelTurn | ModelFault;

/** What an answer counts as, where the script does not say. */
const DEFAULT_USAGE: ModelUsage = { inputTokens: 100, outputTokens: 20 };

/** What a scripted model says when it is asked more often than its script is long. */
export const AFTER_SCRIPT: ModelTurn = { text: 'The script is over.' };

/** The answer to a request: of a script the turn of that index, `AFTER_SCRIPT` beyond its end. */
export function scriptedAnswer(
  script: ModelScript | ModelFunction,
  request: unknown,
  index: number,
): ModelTurn | ModelFault {
  return typeof script === 'function' ? script(request, index) : (script.turns[index] ?? AFTER_SCRIPT);
}

/** True for an answer that goes wrong. */
export function isFault(answer: ModelTurn | ModelFault): answer is ModelFault {
  return 'error' in answer;
}

/** The same script with its calls changed, such as to the names that an SDK gives to tools. */
export function mapModelCalls(script: ModelScript | ModelFunction, map: (call: ModelCall) => ModelCall): ModelFunction {
  return (request, index) => {
    const answer = scriptedAnswer(script, request, index);
    if (isFault(answer) || answer.calls === undefined) return answer;
    return { ...answer, calls: answer.calls.map(map) };
  };
}

/** A turn with every default filled in. */
export interface CompleteTurn {
  readonly text: string | undefined;
  readonly calls: readonly Required<ModelCall>[];
  readonly items: readonly JsonObject[];
  readonly finish: ModelFinish;
  readonly usage: Required<ModelUsage>;
  readonly fromTheFuture: boolean;
}

/** @param index place of the turn among the main requests, from 0: call ids count from it */
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
