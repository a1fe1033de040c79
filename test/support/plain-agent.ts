import { isJsonObject, type Json, type JsonObject } from '../../src/core/base/json.ts';
import { messageOf } from '../../src/core/base/error.ts';
import type { ScriptedToolbox } from './adapter-contract/scripted-toolbox.ts';

/** A tool call as chat completions write it. */
interface ChatCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** An answer of the model. */
export interface PlainAnswer {
  readonly model: string;
  readonly text: string;
  readonly calls: readonly ChatCall[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
}

/** Optional hooks of a running plain agent. */
export interface PlainAgentHooks {
  /** Before a request; what it answers is sent instead, and forgotten. */
  readonly onRequest?: (messages: readonly JsonObject[]) => readonly JsonObject[];
  readonly onAnswer?: (answer: PlainAnswer) => void;
  readonly onToolStart?: (call: ChatCall, args: Json) => void;
  /** After a tool; what it answers is the tool's message. */
  readonly onToolEnd?: (call: ChatCall, result: string, isError: boolean) => string;
  /** The model is done; a text sends it back for another turn. */
  readonly onFinal?: () => string | undefined;
  readonly onEnd?: (error: unknown) => void;
}

/** How a plain agent runs. */
export interface PlainAgentOptions {
  /** Of a server that speaks chat completions, such as the fake one. */
  readonly url: string;
  readonly prompt: string;
  readonly tools: ScriptedToolbox;
  readonly hooks?: PlainAgentHooks;
  readonly signal?: AbortSignal;
}

/**
 * The smallest agent there is: asks a model, runs its tools in parallel, until it answers without calls. Used to
 * test the adapter contract, and an example of a custom loop.
 *
 * @returns the last answer's text
 * @throws what the request or a hook throws
 */
export async function runPlainAgent(options: PlainAgentOptions): Promise<string> {
  const { hooks = {}, tools } = options;
  const messages: JsonObject[] = [{ role: 'user', content: options.prompt }];
  try {
    for (;;) {
      const answer = await ask(options, hooks.onRequest?.(messages) ?? messages);
      hooks.onAnswer?.(answer);
      const { text, calls } = answer;
      if (calls.length === 0) {
        const more = hooks.onFinal?.();
        if (more === undefined) {
          hooks.onEnd?.(undefined);
          return text;
        }
        messages.push({ role: 'assistant', content: text }, { role: 'user', content: more });
        continue;
      }
      const tool_calls = calls.map((call) => ({ id: call.id, type: 'function', function: call.function }));
      messages.push({ role: 'assistant', content: text === '' ? null : text, tool_calls });
      messages.push(...(await Promise.all(calls.map((call) => runCall(call, tools, hooks)))));
    }
  } catch (error) {
    hooks.onEnd?.(error);
    throw error;
  }
}

async function runCall(call: ChatCall, tools: ScriptedToolbox, hooks: PlainAgentHooks): Promise<JsonObject> {
  // What JSON.parse gives is JSON.
  const args = JSON.parse(call.function.arguments) as Json;
  hooks.onToolStart?.(call, args);
  let isError = false;
  const result = await tools.run(call.function.name, args).catch((error: unknown) => {
    isError = true;
    return `Error: ${messageOf(error)}`;
  });
  return { role: 'tool', tool_call_id: call.id, content: hooks.onToolEnd?.(call, result, isError) ?? result };
}

async function ask(options: PlainAgentOptions, messages: readonly JsonObject[]): Promise<PlainAnswer> {
  const tools = options.tools.names.map((name) => ({ type: 'function', function: { name } }));
  const response = await fetch(`${options.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'plain-model', messages, tools }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (!response.ok) throw new Error(`the model's service answered ${response.status}`);
  return readAnswer(await response.json());
}

function readAnswer(body: unknown): PlainAnswer {
  const { model, choices, usage } = objectOf(body);
  const choice = objectOf(Array.isArray(choices) ? choices[0] : undefined);
  const message = objectOf(choice['message']);
  const { prompt_tokens, completion_tokens, prompt_tokens_details } = objectOf(usage);
  return {
    model: typeof model === 'string' ? model : '',
    text: typeof message['content'] === 'string' ? message['content'] : '',
    // The fake server's own shape.
    calls: (message['tool_calls'] ?? []) as readonly ChatCall[],
    inputTokens: numberOf(prompt_tokens),
    outputTokens: numberOf(completion_tokens),
    cacheReadTokens: numberOf(objectOf(prompt_tokens_details)['cached_tokens']),
  };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
