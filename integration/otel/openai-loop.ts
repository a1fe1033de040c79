import type OpenAI from 'openai';

import { PROMPT, runTool, SCHEMA, type ToolArguments } from './scene.ts';

const { MODEL_URL = '', API = 'chat', STREAM = '' } = process.env;

/** Options of a client of the fake server. */
export const CLIENT = { baseURL: `${MODEL_URL}/v1`, apiKey: 'none', maxRetries: 0 };

interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: ToolArguments;
}

/** Runs a call. An instrumentation of tools wraps `run`. */
export type Tools = (call: Call, run: () => Promise<string>) => Promise<string>;

/**
 * An agent without a framework, over chat completions or Responses (`API`), with or without streaming (`STREAM`). The model sees
 * the error of a failed call as its result.
 */
export async function openaiLoop(client: OpenAI, tools: Tools = (_call, run) => run()): Promise<string> {
  const answerCall = async (call: Call): Promise<string> =>
    await tools(call, () => runTool(call.name, call.args)).catch(String);
  return API === 'chat' ? await chatLoop(client, answerCall) : await responsesLoop(client, answerCall);
}

async function chatLoop(client: OpenAI, answerCall: (call: Call) => Promise<string>): Promise<string> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: PROMPT }];
  const tools = ['read', 'bash'].map((name) => ({
    type: 'function' as const,
    function: { name, parameters: SCHEMA },
  }));
  for (;;) {
    const body = { model: 'gpt-5', messages, tools };
    const message =
      STREAM === '' ? (await client.chat.completions.create(body)).choices[0]?.message : await streamed(client, body);
    if (message === undefined) throw new Error('the model gave no message');
    messages.push(message);
    const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
    if (calls.length === 0) return message.content ?? '';
    for (const { id, function: called } of calls) {
      const content = await answerCall({ id, name: called.name, args: JSON.parse(called.arguments) });
      messages.push({ role: 'tool', tool_call_id: id, content });
    }
  }
}

/** Joins the chunks of a stream, as a program does that shows them as they come. */
async function streamed(
  client: OpenAI,
  body: Pick<OpenAI.ChatCompletionCreateParams, 'model' | 'messages' | 'tools'>,
): Promise<OpenAI.ChatCompletionMessage> {
  const stream = await client.chat.completions.create({
    ...body,
    stream: true,
    stream_options: { include_usage: true },
  });
  let content = '';
  const calls: OpenAI.ChatCompletionMessageFunctionToolCall[] = [];
  for await (const { choices } of stream) {
    const delta = choices[0]?.delta;
    content += delta?.content ?? '';
    for (const part of delta?.tool_calls ?? []) {
      const call = (calls[part.index] ??= {
        id: part.id ?? '',
        type: 'function',
        function: { name: '', arguments: '' },
      });
      call.function.name += part.function?.name ?? '';
      call.function.arguments += part.function?.arguments ?? '';
    }
  }
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    refusal: null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

async function responsesLoop(client: OpenAI, answerCall: (call: Call) => Promise<string>): Promise<string> {
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: PROMPT }];
  const tools = ['read', 'bash'].map((name) => ({
    type: 'function' as const,
    name,
    parameters: SCHEMA,
    strict: false,
  }));
  for (;;) {
    const body = { model: 'gpt-5', input, tools, store: false };
    const response = STREAM === '' ? await client.responses.create(body) : await finished(client, body);
    // The items are those that the API accepts in the next request.
    input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
    const calls = response.output.filter((item) => item.type === 'function_call');
    if (calls.length === 0) return response.output_text;
    for (const { call_id: id, name, arguments: text } of calls) {
      input.push({
        type: 'function_call_output',
        call_id: id,
        output: await answerCall({ id, name, args: JSON.parse(text) }),
      });
    }
  }
}

async function finished(
  client: OpenAI,
  body: OpenAI.Responses.ResponseCreateParamsNonStreaming,
): Promise<OpenAI.Responses.Response> {
  const stream = await client.responses.create({ ...body, stream: true });
  let response: OpenAI.Responses.Response | undefined;
  for await (const event of stream) if (event.type === 'response.completed') ({ response } = event);
  if (response === undefined) throw new Error('the response did not complete');
  return response;
}
