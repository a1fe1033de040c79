import type { createOpenAI as CreateOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai';

import { CLIENT } from './openai-loop.ts';
import { PROMPT, runTool, SCHEMA, type ToolArguments } from './scene.ts';

/** An agent of the AI SDK, over chat completions or Responses (`API`), with or without streaming (`STREAM`). */
export async function aiAgent(createOpenAI: typeof CreateOpenAI): Promise<unknown> {
  const { baseURL, apiKey } = CLIENT;
  const openai = createOpenAI({ baseURL, apiKey });
  const inputSchema = jsonSchema<ToolArguments>(SCHEMA);
  const settings = {
    model: process.env['API'] === 'responses' ? openai.responses('gpt-5') : openai.chat('gpt-5'),
    tools: {
      read: tool({ inputSchema, execute: (args) => runTool('read', args) }),
      bash: tool({ inputSchema, execute: (args) => runTool('bash', args) }),
    },
    prompt: PROMPT,
    maxRetries: 0,
    stopWhen: isStepCount(20),
  };
  return process.env['STREAM'] === ''
    ? await generateText(settings)
    : await streamText({ ...settings, onError: () => undefined }).text;
}
