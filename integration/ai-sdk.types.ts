/**
 * A user's types after the adapter: checked by `tsc`, never run. Each `@ts-expect-error` pins a type that must
 * stay known: were it lost (`any`), the line under it would be no error, and that is one.
 */
import {
  generateText,
  isStepCount,
  Output,
  streamText,
  tool,
  ToolLoopAgent,
  type LanguageModel,
  type ToolSet,
} from 'ai';
import * as ai6 from 'ai-6';
import { MockLanguageModelV4 } from 'ai/test';
import { MockLanguageModelV3 } from 'ai-6/test';
import { z } from 'zod';
import type { CoxswainAgent } from '../src/adapters/ai-sdk/index.ts';

const model = new MockLanguageModelV4();
const tools = {
  add: tool({
    description: 'Adds.',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: async ({ a, b }) => ({ sum: a + b }),
  }),
  name: tool({ inputSchema: z.object({}), execute: () => 'Ada' }),
};

export async function generated(cox: CoxswainAgent): Promise<void> {
  const result = await generateText({
    ...cox.wrap({ model, tools }),
    prompt: 'go',
    stopWhen: isStepCount(5),
    prepareStep: ({ stepNumber }) => (stepNumber > 2 ? { activeTools: ['add'], model: cox.model(model) } : {}),
  });
  for (const { dynamic, toolName, output } of result.toolResults) {
    if (dynamic === true) continue;
    if (toolName === 'add') {
      const sum: number = output.sum;
      // @ts-expect-error the sum is a number
      const text: string = output.sum;
      void [sum, text];
    }
  }
  await generateText({
    ...cox.wrap({ model, tools }),
    prompt: 'go',
    // @ts-expect-error there is no such tool
    prepareStep: () => ({ activeTools: ['multiply'] }),
  });
  const { output } = await generateText({
    ...cox.wrap({ model, tools }),
    prompt: 'go',
    output: Output.object({ schema: z.object({ answer: z.string() }) }),
  });
  // @ts-expect-error the answer is a text
  const wrong: number = output.answer;
  void wrong;
}

export async function streamed(cox: CoxswainAgent): Promise<void> {
  const result = streamText({ model: cox.model(model), tools: cox.tools(tools), prompt: 'go' });
  for (const { dynamic, toolName, output } of await result.toolResults) {
    // @ts-expect-error the name is a text
    if (dynamic !== true && toolName === 'name') void (output satisfies number);
  }
}

export async function looped(cox: CoxswainAgent): Promise<void> {
  const agent = new ToolLoopAgent({
    ...cox.wrap({ model, tools: { ...tools, acknowledge_advice: cox.acknowledgeTool() } }),
    instructions: 'Be brief.',
    prepareStep: ({ stepNumber }) => (stepNumber > 2 ? { activeTools: ['add'] } : {}),
  });
  const { toolCalls } = await agent.generate({ prompt: 'go' });
  for (const { dynamic, toolName, input } of toolCalls) {
    if (dynamic === true || toolName !== 'acknowledge_advice') continue;
    const response: 'accepted' | 'rejected' | 'noted' = input.response;
    // @ts-expect-error an answer is one of three words
    const other: 'maybe' = input.response;
    void [response, other];
  }
}

/** Models and tools whose types are not known in detail go through as well. */
export async function general(cox: CoxswainAgent, any: LanguageModel, all: ToolSet): Promise<string> {
  return (await generateText({ ...cox.wrap({ model: any, tools: all }), prompt: 'go' })).text;
}

export async function six(cox: CoxswainAgent): Promise<void> {
  const older = new MockLanguageModelV3();
  const add = ai6.tool({ inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => ({ sum: a }) });
  const settings = { model: older, tools: { add, acknowledge_advice: cox.acknowledgeTool() } };
  const result = await ai6.generateText({
    ...cox.wrap(settings),
    prompt: 'go',
    prepareStep: ({ stepNumber }) => (stepNumber > 2 ? { activeTools: ['add'] } : {}),
  });
  for (const { dynamic, toolName, output } of result.toolResults) {
    // @ts-expect-error the sum is a number
    if (dynamic !== true && toolName === 'add') void (output.sum satisfies string);
  }
  const agent = new ai6.ToolLoopAgent({ ...cox.wrap(settings), instructions: 'Be brief.' });
  void (await agent.generate({ prompt: 'go' })).text;
}
