import type { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, createMiddleware, tool, ToolMessage } from 'langchain';

import { CLIENT } from './openai-loop.ts';
import { PROMPT, runTool, SCHEMA } from './scene.ts';

const { baseURL, ...options } = CLIENT;

/** The model sees the error of a failed call as its result, which is not the default of `createAgent`. */
const tellErrors = createMiddleware({
  name: 'tellErrors',
  wrapToolCall: async (request, handler) => {
    try {
      return await handler(request);
    } catch (error) {
      const { id = '', name } = request.toolCall;
      return new ToolMessage({ content: String(error), name, tool_call_id: id, status: 'error' });
    }
  },
});

/** `createAgent` of LangChain.js, over chat completions or Responses (`API`), with or without streaming (`STREAM`). */
export async function langchainAgent(callbacks: BaseCallbackHandler[]): Promise<unknown> {
  const agent = createAgent({
    name: 'repairer',
    model: new ChatOpenAI({
      ...options,
      model: 'gpt-5',
      streamUsage: true,
      useResponsesApi: process.env['API'] === 'responses',
      configuration: { baseURL },
    }),
    tools: ['read', 'bash'].map((name) =>
      tool(async (args: object) => await runTool(name, args), { name, description: name, schema: SCHEMA }),
    ),
    middleware: [tellErrors],
  });
  const input = { messages: [{ role: 'user' as const, content: PROMPT }] };
  const settings = { recursionLimit: 100, callbacks };
  if (process.env['STREAM'] === '') return await agent.invoke(input, settings);
  for await (const part of await agent.stream(input, { ...settings, streamMode: ['messages', 'values'] })) void part;
  return undefined;
}
