import OpenAI from 'openai';
import type OpenAI6 from 'openai-6';
import { zodFunction } from 'openai/helpers/zod';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import { openaiSteering } from '../src/adapters/openai/index.ts';
import { payloadsOf } from '../test/support/adapter-contract/adapter-player.ts';
import {
  feedbackAfterEachCall,
  guidanceAlwaysAt,
  guidanceAt,
} from '../test/support/adapter-contract/contract-advice.ts';
import type { ModelCall, ModelScript } from '../src/testing/model-script.ts';
import { withOpenAi } from './adapter-scene.ts';

const FEEDBACK = { feedback: [feedbackAfterEachCall()] };
const PARAMETERS = { type: 'object', properties: {} } as const;
const PROMPT = [{ role: 'user' as const, content: 'Go.' }];

function calls(...turns: readonly (readonly ModelCall[])[]): ModelScript {
  return { turns: [...turns.map((asked) => ({ calls: asked })), { text: 'Done.' }] };
}

function runnable(name: string, run: (args: object) => unknown): ReturnType<typeof runnableOf> {
  return runnableOf(name, run);
}

function runnableOf(name: string, run: (args: object) => unknown) {
  const parse = (text: string): object => JSON.parse(text);
  return {
    type: 'function' as const,
    function: { name, description: name, parameters: PARAMETERS, parse, function: run },
  };
}

/** The messages of each request that went out. */
function messagesOf(requests: readonly { readonly raw: string }[]): readonly OpenAI.ChatCompletionMessageParam[][] {
  return requests.map(({ raw }) => JSON.parse(raw).messages);
}

test('with onToolError result, a tool of runTools that throws is told to the model, with feedback, and the run goes on', async () => {
  await withOpenAi(calls([{ name: 'boom', args: {} }]), FEEDBACK, async ({ run, server, baseURL, records }) => {
    const steering = openaiSteering(run, { onToolError: 'result' });
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
    const boom = runnable('boom', () => {
      throw new TypeError('kaboom');
    });
    const runner = client.chat.completions.runTools({ model: 'm', messages: PROMPT, tools: [steering.tool(boom)] });
    expect(await runner.finalContent()).toBe('Done.');
    const content = messagesOf(server.requests)[1]?.at(-1)?.content;
    expect(content).toBe('TypeError: kaboom\n\n[Feedback - Contract]\n\nCOX-FEEDBACK-1.');
    const { own } = await records();
    const [ended] = payloadsOf(own, 'tool_ended');
    expect(ended).toMatchObject({ tool_call_id: 'call_1_1', result: 'kaboom', is_error: true });
    expect(payloadsOf(own, 'run_ended')).toMatchObject([{ outcome: 'ended' }]);
  });
});

test('by default it ends runTools as without coxswain, the run as an error, and its feedback is undelivered', async () => {
  await withOpenAi(calls([{ name: 'boom', args: {} }]), FEEDBACK, async ({ run, server, baseURL, records }) => {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
    const boom = runnable('boom', () => {
      throw new TypeError('kaboom');
    });
    const runner = client.chat.completions.runTools({ model: 'm', messages: PROMPT, tools: steering.tools([boom]) });
    await expect(steering.follow(runner.finalContent())).rejects.toThrow('kaboom');
    expect(server.requests.length).toBe(1);
    const { own } = await records();
    expect(payloadsOf(own, 'run_ended')).toMatchObject([{ outcome: 'error', labels: { error: 'kaboom' } }]);
    expect(payloadsOf(own, 'feedback_delivered')).toMatchObject([{ delivered: false, reason: 'the run ended before' }]);
  });
});

test('an abort while a tool runs ends runTools and the run as aborted, also under onToolError result', async () => {
  await withOpenAi(calls([{ name: 'slow', args: {} }]), FEEDBACK, async ({ run, baseURL, records }) => {
    const steering = openaiSteering(run, { onToolError: 'result' });
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
    const controller = new AbortController();
    const slow = runnable('slow', () => {
      controller.abort();
      controller.signal.throwIfAborted();
    });
    const body = { model: 'm', messages: PROMPT, tools: [steering.tool(slow)] };
    const runner = client.chat.completions.runTools(body, { signal: controller.signal });
    await expect(runner.finalContent()).rejects.toThrow('Request was aborted.');
    const { own } = await records();
    expect(payloadsOf(own, 'run_ended')).toMatchObject([{ outcome: 'aborted' }]);
    expect(payloadsOf(own, 'tool_ended')).toMatchObject([{ is_error: true }]);
  });
});

test('a tool made by zodFunction works, and calls of parallel twins are told apart by their arguments', async () => {
  const both = calls([
    { name: 'look', args: { at: 1 } },
    { name: 'look', args: { at: 2 } },
  ]);
  await withOpenAi(both, FEEDBACK, async ({ run, server, baseURL, records }) => {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
    const look = zodFunction({
      name: 'look',
      description: 'Looks.',
      parameters: z.object({ at: z.number() }),
      // The first call takes longer.
      function: async ({ at }) => {
        await new Promise((resolve) => setTimeout(resolve, at === 1 ? 30 : 1));
        return { seen: at };
      },
    });
    const runner = client.chat.completions.runTools({ model: 'm', messages: PROMPT, tools: steering.tools([look]) });
    expect(await runner.finalContent()).toBe('Done.');
    expect(messagesOf(server.requests)[1]?.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'call_1_1', content: '{"seen":1}\n\n[Feedback - Contract]\n\nCOX-FEEDBACK-2.' },
      { role: 'tool', tool_call_id: 'call_1_2', content: '{"seen":2}\n\n[Feedback - Contract]\n\nCOX-FEEDBACK-1.' },
    ]);
    const { own } = await records();
    expect(payloadsOf(own, 'tool_ended').map(({ tool_call_id, result }) => [tool_call_id, result])).toEqual([
      ['call_1_2', { seen: 2 }],
      ['call_1_1', { seen: 1 }],
    ]);
    const strict = JSON.parse(server.requests[0]?.raw ?? '{}').tools[0].function.strict;
    expect(strict).toBe(true);
  });
});

test('arguments that the tool’s parser refuses are recorded as a failed call, and the model gets feedback with the reason', async () => {
  await withOpenAi(calls([{ name: 'look', args: {} }]), FEEDBACK, async ({ run, server, baseURL, records }) => {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
    const look = zodFunction({
      name: 'look',
      parameters: z.object({ at: z.number() }),
      function: ({ at }) => at,
    });
    const tools = steering.tools([look]);
    const runner = client.chat.completions.runTools({ model: 'm', messages: PROMPT, tools });
    expect(await runner.finalContent()).toBe('Done.');
    const content = JSON.stringify(messagesOf(server.requests)[1]?.at(-1));
    expect(content).toContain('expected number');
    expect(content.endsWith('\\n\\n[Feedback - Contract]\\n\\nCOX-FEEDBACK-1."}')).toBe(true);
    const { own } = await records();
    expect(payloadsOf(own, 'tool_ended')).toMatchObject([{ tool_call_id: 'call_1_1', is_error: true }]);
  });
});

test('with the fetch alone, calls and results are recorded, and feedback goes with the next request only', async () => {
  const script = calls([{ name: 'look', args: {} }], [{ name: 'look', args: { again: true } }]);
  await withOpenAi(script, FEEDBACK, async ({ run, server, baseURL, records }) => {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
    const tools = [runnable('look', () => 'quiet')];
    const runner = client.chat.completions.runTools({ model: 'm', messages: PROMPT, tools });
    expect(await runner.finalContent()).toBe('Done.');
    const ends = messagesOf(server.requests).map((messages) => messages.at(-1));
    expect(ends).toEqual([
      { role: 'user', content: 'Go.' },
      { role: 'system', content: '[Feedback - Contract]\n\nCOX-FEEDBACK-1.' },
      { role: 'system', content: '[Feedback - Contract]\n\nCOX-FEEDBACK-2.' },
    ]);
    expect(JSON.stringify(runner.messages)).not.toContain('COX-');
    const { own } = await records();
    expect(payloadsOf(own, 'tool_ended').map(({ result }) => result)).toEqual(['quiet', 'quiet']);
    expect(payloadsOf(own, 'feedback_delivered')).toMatchObject([
      { delivered: true, channel: 'request' },
      { delivered: true, channel: 'request' },
    ]);
    const users = payloadsOf(own, 'message_appended').filter(({ message }) => message.role === 'user');
    expect(users.length).toBe(1);
  });
});

test('where runTools ends with the result of a forced tool, nothing is added to it', async () => {
  await withOpenAi(calls([{ name: 'look', args: {} }]), FEEDBACK, async ({ run, baseURL, records }) => {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
    const runner = client.chat.completions.runTools({
      model: 'm',
      messages: PROMPT,
      tools: [steering.tool(runnable('look', () => 'quiet'))],
      tool_choice: { type: 'function', function: { name: 'look' } },
    });
    expect(await runner.finalFunctionToolCallResult()).toBe('quiet');
    const { own } = await records();
    expect(payloadsOf(own, 'feedback_delivered')).toMatchObject([{ delivered: false }]);
  });
});

test('a request that failed and is sent again carries the same guidance, which is delivered once', async () => {
  const flaky = (_request: unknown, index: number): ModelScript['turns'][number] =>
    index === 0 ? { error: { status: 429, mayRetry: true } } : { text: 'Done.' };
  const guidance = [guidanceAlwaysAt('pre_tool_selection')];
  await withOpenAi(flaky, { guidance }, async ({ run, server, baseURL, records }) => {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch(), maxRetries: 1 });
    await client.chat.completions.create({ model: 'm', messages: PROMPT });
    expect(server.requests.length).toBe(2);
    expect(server.requests[1]?.raw).toBe(server.requests[0]?.raw);
    const { own } = await records();
    expect(payloadsOf(own, 'guidance_delivered')).toMatchObject([{ guidance: { delivered: true } }]);
    expect(payloadsOf(own, 'turn_started').length).toBe(1);
    expect(payloadsOf(own, 'run_ended')).toMatchObject([{ outcome: 'ended' }]);
  });
});

test('guidance in a request that fails for good is undelivered, and the next request does not carry it', async () => {
  const down = (_request: unknown, index: number): ModelScript['turns'][number] =>
    index === 0 ? { error: { status: 500 } } : { text: 'Done.' };
  const guidance = [guidanceAt('pre_tool_selection', () => true)];
  await withOpenAi(down, { guidance }, async ({ run, server, baseURL, records }) => {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch(), maxRetries: 0 });
    await expect(client.chat.completions.create({ model: 'm', messages: PROMPT })).rejects.toThrow('500');
    await client.chat.completions.create({ model: 'm', messages: [...PROMPT, { role: 'user', content: 'Again.' }] });
    expect(server.requests.map(({ raw }) => raw.includes('COX-GUIDANCE'))).toEqual([true, false]);
    const { own } = await records();
    const [verdict] = payloadsOf(own, 'guidance_delivered');
    expect(verdict?.guidance).toMatchObject({ delivered: false, reason: "the model's server answered 500" });
  });
});

test('what a tool asks a model is a child run, named after the tool, and leaves the run itself alone', async () => {
  const script: ModelScript = {
    turns: [{ calls: [{ name: 'ask', args: {} }] }, { text: 'An inner answer.' }, { text: 'Done.' }],
  };
  await withOpenAi(script, FEEDBACK, async ({ run, baseURL, records }) => {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
    const ask = runnable('ask', async () => {
      const inner = await client.chat.completions.create({ model: 'm', messages: PROMPT });
      return inner.choices[0]?.message.content;
    });
    const runner = client.chat.completions.runTools({ model: 'm', messages: PROMPT, tools: steering.tools([ask]) });
    expect(await runner.finalContent()).toBe('Done.');
    const { own, below } = await records();
    expect(payloadsOf(own, 'turn_started').length).toBe(2);
    expect(payloadsOf(own, 'tool_ended')).toMatchObject([{ tool_name: 'ask', result: 'An inner answer.' }]);
    const [child = []] = below;
    expect(child[0]?.payload).toMatchObject({ kind: 'run_started', identity: { agent_name: 'ask' } });
    expect(child[0]).toMatchObject({ parent_run_id: run.id, depth: 1 });
    expect(payloadsOf(child, 'turn_started').length).toBe(1);
    expect(payloadsOf(child, 'run_ended')).toMatchObject([{ outcome: 'ended' }]);
  });
});

test('in a chain of responses guidance goes into the instructions, which the provider does not keep', async () => {
  const script: ModelScript = { turns: [{ calls: [{ name: 'look', args: {} }] }, { text: 'Done.' }] };
  const guidance = [guidanceAlwaysAt('pre_tool_selection')];
  const steeringOptions = { guidance, noise: { cooldownCalls: 0 } };
  await withOpenAi(script, steeringOptions, async ({ run, server, baseURL, records }) => {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
    const first = await client.responses.create({ model: 'm', instructions: 'Be kind.', input: 'Go.' });
    const call = first.output.find((item) => item.type === 'function_call');
    if (call === undefined) throw new Error('the model asked for nothing');
    const output = await steering.runToolCall(call, () => 'quiet');
    await client.responses.create({ model: 'm', previous_response_id: first.id, input: [output] });
    const bodies = server.requests.map(({ body }) => body);
    expect(bodies.map(({ instructions }) => instructions)).toEqual([
      'Be kind.\n\n[Guidance - Contract pre_tool_selection]\n\nCOX-GUIDANCE-pre_tool_selection. Think of it.',
      '[Guidance - Contract pre_tool_selection]\n\nCOX-GUIDANCE-pre_tool_selection. Think of it.',
    ]);
    expect(bodies.map(({ input }) => JSON.stringify(input).includes('COX-'))).toEqual([false, false]);
    const { own } = await records();
    expect(payloadsOf(own, 'guidance_delivered')).toMatchObject([
      { guidance: { delivered: true, channel: 'instructions' } },
      { guidance: { delivered: true, channel: 'instructions' } },
    ]);
    expect(payloadsOf(own, 'tool_ended')).toMatchObject([{ tool_call_id: 'call_1_1', result: 'quiet' }]);
  });
});

test('in Responses a shell, a patch and what OpenAI runs itself are calls, once each, streamed or not', async () => {
  const items = [
    { type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search', query: 'tides' } },
    { type: 'shell_call', id: 'x', call_id: 'sh', status: 'completed', action: { commands: ['npm test'] } },
    {
      type: 'apply_patch_call',
      id: 'y',
      call_id: 'ap',
      status: 'completed',
      operation: { type: 'delete_file', path: 'a.ts' },
    },
  ];
  for (const stream of [false, true]) {
    await withOpenAi({ turns: [{ items }, { text: 'Done.' }] }, FEEDBACK, async ({ run, server, baseURL, records }) => {
      const steering = openaiSteering(run);
      const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
      const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'Go.' }];
      const body = { model: 'm', store: false, input };
      const first = stream ? await client.responses.stream(body).finalResponse() : await client.responses.create(body);
      expect(first.output.map(({ type }) => type)).toEqual(items.map(({ type }) => type));
      const end = { type: 'exit' as const, exit_code: 1 };
      input.push(
        ...(first.output as OpenAI.Responses.ResponseInputItem[]),
        { type: 'shell_call_output', call_id: 'sh', output: [{ stdout: '', stderr: 'no test', outcome: end }] },
        { type: 'apply_patch_call_output', call_id: 'ap', status: 'failed', output: 'no such file' },
      );
      await client.responses.create(body);
      expect(['COX-FEEDBACK-1.', 'COX-FEEDBACK-3.'].every((mark) => server.requests[1]?.raw.includes(mark))).toBe(true);
      const { own } = await records();
      const ended = payloadsOf(own, 'tool_ended').map((call) => [call.tool_name, call.result, call.is_error]);
      expect(ended).toEqual([
        ['web_search', 'completed', false],
        ['shell', 'no test\nexit code 1', true],
        ['apply_patch', 'no such file', true],
      ]);
      expect(payloadsOf(own, 'tool_started')[0]?.args).toEqual({ type: 'search', query: 'tides' });
    });
  }
});

test('what runToolCall gives goes into the input of openai 7 and of openai 6 as it is', async () => {
  const call = { type: 'function_call' as const, call_id: 'c', name: 'draw', arguments: '{}' };
  const custom = { type: 'custom_tool_call' as const, call_id: 'd', name: 'run', input: 'ls' };
  await withOpenAi({ turns: [] }, FEEDBACK, async ({ run }) => {
    const steering = openaiSteering(run);
    const input: OpenAI.Responses.ResponseInputItem[] = [];
    input.push(await steering.runToolCall(call, () => 'ok'), await steering.runToolCall(custom, () => 'ok'));
    // Of the items of an answer only the union is known.
    for (const item of [call, custom] as OpenAI.Responses.ResponseOutputItem[]) {
      if (item.type !== 'function_call' && item.type !== 'custom_tool_call') continue;
      input.push(await steering.runToolCall(item, () => 'ok'));
    }
    input.splice(2);
    const input6: OpenAI6.Responses.ResponseInputItem[] = [];
    input6.push(await steering.runToolCall(call, () => 'ok'), await steering.runToolCall(custom, () => 'ok'));
    expect([...input, ...input6].map(({ type }) => type)).toEqual(
      [call, custom, call, custom].map(({ type }) => `${type}_output`),
    );
  });
});

test('parts that a tool answers in Responses stay as they are; feedback is one part more', async () => {
  const call = { type: 'function_call' as const, call_id: 'c', name: 'draw', arguments: '{}' };
  await withOpenAi({ turns: [] }, FEEDBACK, async ({ run }) => {
    const steering = openaiSteering(run);
    const image = { type: 'input_image' as const, image_url: 'data:image/png;base64,AA', detail: 'low' as const };
    const output = await steering.runToolCall<OpenAI.Responses.ResponseInputImageContent>(call, () => [image]);
    const item: OpenAI.Responses.ResponseInputItem = output;
    expect(item).toEqual({
      type: 'function_call_output',
      call_id: 'c',
      output: [image, { type: 'input_text', text: '[Feedback - Contract]\n\nCOX-FEEDBACK-1.' }],
    });
    const custom = { type: 'custom_tool_call' as const, call_id: 'd', name: 'run', input: 'ls -l' };
    expect(await steering.runToolCall(custom, (text) => `ran ${text}`)).toEqual({
      type: 'custom_tool_call_output',
      call_id: 'd',
      output: [
        { type: 'input_text', text: 'ran ls -l' },
        { type: 'input_text', text: '[Feedback - Contract]\n\nCOX-FEEDBACK-2.' },
      ],
    });
  });
});

test('without a fetch, prepareRequest and observe do the same for a loop of one’s own', async () => {
  const steeringOptions = { ...FEEDBACK, guidance: [guidanceAt('pre_tool_selection', () => true)] };
  await withOpenAi(calls([{ name: 'look', args: {} }]), steeringOptions, async ({ run, server, baseURL, records }) => {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none' });
    const messages: OpenAI.ChatCompletionMessageParam[] = [...PROMPT];
    for (;;) {
      const completion = await client.chat.completions.create(steering.prepareRequest({ model: 'm', messages }));
      steering.observe(completion);
      const message = completion.choices[0]?.message;
      if (message?.tool_calls === undefined) break;
      messages.push(message);
      for (const call of message.tool_calls) messages.push(await steering.runToolCall(call, () => ''));
    }
    expect(server.requests.map(({ raw }) => raw.includes('COX-GUIDANCE'))).toEqual([true, false]);
    expect(messages.at(-1)?.content).toBe('\n\n[Feedback - Contract]\n\nCOX-FEEDBACK-1.');
    const { own } = await records();
    expect(payloadsOf(own, 'turn_started').length).toBe(2);
    expect(payloadsOf(own, 'guidance_delivered')).toMatchObject([{ guidance: { delivered: true } }]);
  });
});

test('a stream that is not read to its end is recorded as far as it came, and is no error', async () => {
  const script: ModelScript = { turns: [{ text: 'A long answer without a reader.' }] };
  await withOpenAi(script, {}, async ({ run, baseURL, records }) => {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
    const stream = await client.chat.completions.create({ model: 'm', messages: PROMPT, stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content !== undefined) break;
    const { own } = await records();
    expect(payloadsOf(own, 'run_ended')).toMatchObject([{ outcome: 'ended' }]);
  });
});

test('the agent can answer advice with the acknowledge tool', async () => {
  const answer = { provider: 'Contract', response: 'accepted' };
  const script = calls([{ name: 'look', args: {} }], [{ name: 'acknowledge_advice', args: answer }]);
  await withOpenAi(script, FEEDBACK, async ({ run, baseURL, records }) => {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
    const tools = [steering.tool(runnable('look', () => 'quiet')), steering.acknowledgeTool()];
    const runner = client.chat.completions.runTools({ model: 'm', messages: PROMPT, tools });
    expect(await runner.finalContent()).toBe('Done.');
    const { own } = await records();
    expect(payloadsOf(own, 'advice_acknowledged')).toMatchObject([{ provider_name: 'Contract', response: 'accepted' }]);
    expect(payloadsOf(own, 'tool_ended').map(({ result }) => result)).toEqual(['quiet', 'Noted.']);
  });
});

test('the types of tools come through as they were', () => {
  const steering = openaiSteering(createCoxswain().startRun());
  const look = runnable('look', () => 'quiet');
  const tools: readonly [typeof look, typeof look] = steering.tools([look, look]);
  const client = (): OpenAI => new OpenAI({ apiKey: 'none', fetch: steering.fetch() });
  expect([tools.length, typeof client]).toEqual([2, 'function']);
});

test('a loop that the user aborts between two requests ends the run as aborted', async () => {
  await withOpenAi({ turns: [{ calls: [{ name: 'look', args: {} }] }] }, {}, async ({ run, baseURL, records }) => {
    const steering = openaiSteering(run);
    const client = new OpenAI({ baseURL, apiKey: 'none', fetch: steering.fetch() });
    const controller = new AbortController();
    const { signal } = controller;
    const messages = [{ role: 'user' as const, content: 'Go.' }];
    const { choices } = await client.chat.completions.create({ model: 'm', messages }, { signal });
    for (const call of choices[0]?.message.tool_calls ?? []) await steering.runToolCall(call, () => 'quiet');
    controller.abort();
    const { own } = await records();
    expect(payloadsOf(own, 'tool_ended')).toHaveLength(1);
    expect(payloadsOf(own, 'run_ended')).toMatchObject([{ outcome: 'aborted' }]);
  });
});
