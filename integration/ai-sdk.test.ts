import {
  APICallError,
  customProvider,
  dynamicTool,
  generateText,
  isStepCount,
  jsonSchema,
  simulateStreamingMiddleware,
  streamText,
  tool,
  wrapLanguageModel,
} from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { coxswainAgent, type CoxswainAgent, type RefusalOptions } from '../src/adapters/ai-sdk/index.ts';
import { createCoxswain, type CoxswainOptions } from '../src/core/run/coxswain.ts';
import type { TrajectoryPayload, TrajectoryRecord } from '../src/core/records/trajectory-record.ts';
import { isDerived } from '../src/core/records/derived-payload.ts';
import { Replay } from '../src/core/replay/replay.ts';
import type { Run } from '../src/core/run/run.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import {
  feedbackAfterEachCall,
  feedbackMark,
  guidanceAlwaysAt,
  guidanceMark,
} from '../test/support/adapter-contract/contract-advice.ts';
import { FINAL_TEXT, PARALLEL, SERVER_ERROR } from '../test/support/adapter-contract/contract-scenes.ts';
import { payloadsOf } from '../test/support/adapter-contract/adapter-player.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { listAll, readAll } from '../test/support/script-records.ts';
import type { ModelTurn } from '../src/testing/model-script.ts';
import { playAi } from './ai-scene.ts';
import { neutralAiRequest, scriptedAiModel, type ScriptedAiModel } from './scripted-ai-model.ts';

interface Stage extends ScriptedAiModel<MockLanguageModelV4> {
  readonly run: Run;
  readonly cox: CoxswainAgent;
  readonly faults: () => number;
  readonly records: () => Promise<readonly TrajectoryRecord[]>;
  /** Records of the runs below. */
  readonly below: () => Promise<readonly (readonly TrajectoryRecord[])[]>;
  readonly recorded: (...kinds: readonly TrajectoryPayload['kind'][]) => Promise<readonly TrajectoryPayload[]>;
  /** Text of the result of a call in a request. */
  readonly resultIn: (request: number, toolCallId: string) => string | undefined;
}

const SPEAKING: CoxswainOptions = { feedback: [feedbackAfterEachCall()] };

function stage(turns: readonly ModelTurn[], steering: CoxswainOptions = SPEAKING, options: RefusalOptions = {}): Stage {
  const store = memoryStore();
  const coxswain = createCoxswain({ store, clock: createFakeClock(), feedback: [], guidance: [], ...steering });
  const run = coxswain.startRun();
  const scripted = scriptedAiModel({ script: { turns } });
  const records = async (): Promise<readonly TrajectoryRecord[]> => {
    await run.flush();
    return await readAll(store, run.id);
  };
  return {
    ...scripted,
    run,
    cox: coxswainAgent(run, options),
    faults: () => coxswain.health().faults,
    records,
    async below() {
      await coxswain.flush();
      const ids = (await listAll(store)).map(({ runId }) => runId).filter((id) => id !== run.id);
      return await Promise.all(ids.map((id) => readAll(store, id)));
    },
    recorded: async (...kinds) =>
      (await records()).map(({ payload }) => payload).filter(({ kind }) => kinds.includes(kind)),
    resultIn: (at, id) => {
      const request = scripted.requests[at];
      if (request === undefined) return undefined;
      return neutralAiRequest(request).messages.find(({ role, toolCallId }) => role === 'tool' && toolCallId === id)
        ?.text;
    },
  };
}

const anything = jsonSchema<Record<string, unknown>>({ type: 'object' });
const call = (name: string, args: Record<string, unknown> = {}): ModelTurn => ({
  calls: [{ name, args: args as never }],
});
const final: ModelTurn = { text: FINAL_TEXT };
const stopWhen = isStepCount(9);

describe('models and loops that are not handed over one by one', () => {
  test('a model that goes by its name is the one of the default provider, and is watched', async () => {
    const { cox, model, recorded } = stage([call('look'), final]);
    const look = tool({ inputSchema: anything, execute: async () => 'quiet' });
    globalThis.AI_SDK_DEFAULT_PROVIDER = customProvider({ languageModels: { 'some/model': model } });
    try {
      await generateText({ ...cox.wrap({ model: 'some/model', tools: { look } }), prompt: 'go', stopWhen });
    } finally {
      globalThis.AI_SDK_DEFAULT_PROVIDER = undefined;
    }
    expect([(await recorded('turn_started')).length, (await recorded('tool_ended')).length]).toEqual([2, 1]);
    expect(await recorded('fault_noticed')).toEqual([]);
  });

  test('a model that prepareStep returns is watched, as the model that it stands for', async () => {
    const { cox, model, recorded } = stage([call('look'), final]);
    const look = tool({ inputSchema: anything, execute: async () => 'quiet' });
    const other = new MockLanguageModelV4({ doGenerate: async () => await Promise.reject(new Error('not asked')) });
    const prepareStep = (): { readonly model: MockLanguageModelV4 } => ({ model });
    await generateText({ ...cox.wrap({ model: other, tools: { look }, prepareStep }), prompt: 'go', stopWhen });
    expect([(await recorded('turn_started')).length, (await recorded('tool_ended')).length]).toEqual([2, 1]);
  });

  test('of loops at once each has a run, streamed or not; loops one after the other share one', async () => {
    for (const isStreamed of [false, true]) {
      const { run, cox, below, records } = stage([]);
      const inputSchema = z.object({});
      const turns: readonly ModelTurn[] = [{ calls: [{ name: 'look', args: {} }] }, { text: FINAL_TEXT }];
      const both = Promise.withResolvers<void>();
      let waiting = 0;
      // Each looks once the other one has begun to.
      const look = tool({
        inputSchema,
        execute: async () => {
          if ((waiting += 1) === 2) both.resolve();
          await both.promise;
          return 'quiet';
        },
      });
      const ask = async (prompt: string, tools = { look }): Promise<string> => {
        // Both loops use the same ids of calls.
        const { model } = scriptedAiModel({ script: { turns }, answerAfterMs: 1 });
        const settings = { ...cox.wrap({ model, tools }), prompt, stopWhen: isStepCount(5) };
        return isStreamed ? await streamText(settings).text : (await generateText(settings)).text;
      };
      const ends = await Promise.all([ask('Go left.'), ask('Go right.')]);
      expect(ends).toEqual([FINAL_TEXT, FINAL_TEXT]);
      const [beside = []] = await below();
      expect(beside[0]).toMatchObject({ parent_run_id: run.id, depth: 1 });
      expect(payloadsOf(beside, 'run_ended')).toMatchObject([{ outcome: 'ended' }]);
      await ask('Go on.', { look: tool({ inputSchema, execute: async () => 'quiet' }) });
      expect((await below()).length).toBe(1);
      const own = await records();
      const userTexts = [own, beside].map((list) =>
        payloadsOf(list, 'message_appended').flatMap(({ message }) =>
          message.role === 'user' ? [message.content] : [],
        ),
      );
      expect(userTexts).toEqual([['Go left.', 'Go on.'], ['Go right.']]);
      expect([own, beside].map((list) => payloadsOf(list, 'turn_started').length)).toEqual([4, 2]);
      expect([own, beside].map((list) => payloadsOf(list, 'tool_ended').length)).toEqual([2, 1]);
      expect(payloadsOf(beside, 'feedback_delivered')).toMatchObject([{ delivered: true }]);
      expect(run.usage).toMatchObject({ calls: 3 });
    }
  });

  test('a loop within a tool is a child run with its own turns, calls and end, streamed or not', async () => {
    for (const isStreamed of [false, true]) {
      const inner = scriptedAiModel({ script: { turns: [call('dig'), { text: 'found' }] } });
      const { cox, model, recorded, run, below } = stage([call('research'), final]);
      const dig = tool({ inputSchema: anything, execute: async () => 'earth' });
      const settings = { ...cox.wrap({ model: inner.model, tools: { dig } }), prompt: 'dig', stopWhen };
      const research = isStreamed
        ? tool({
            inputSchema: anything,
            async *execute() {
              yield 'begun';
              yield await streamText(settings).text;
            },
          })
        : tool({ inputSchema: anything, execute: async () => (await generateText(settings)).text });
      await generateText({ ...cox.wrap({ model, tools: { research } }), prompt: 'go', stopWhen });
      await run.end();
      expect(await recorded('tool_ended')).toMatchObject([{ tool_name: 'research', result: 'found' }]);
      expect((await recorded('turn_started')).length).toBe(2);
      const [child = []] = await below();
      expect(child[0]?.payload).toMatchObject({ kind: 'run_started', identity: { agent_name: 'research', depth: 1 } });
      const kinds = child.map(({ payload }) => payload.kind);
      expect(['turn_started', 'tool_ended', 'run_ended'].map((kind) => kinds.filter((k) => k === kind).length)).toEqual(
        [2, 1, 1],
      );
      expect(child.at(-1)?.payload).toMatchObject({ kind: 'run_ended', outcome: 'ended' });
    }
  });
});

describe('results of tools in the real SDK', () => {
  test('what the user gets of a tool is the very thing it gave; what the model gets has the feedback after it', async () => {
    const { cox, model, resultIn } = stage([call('look'), final]);
    const found = { sum: 5, at: [1, 2] };
    const result = await generateText({
      ...cox.wrap({ model, tools: { look: tool({ inputSchema: anything, execute: async () => found }) } }),
      prompt: 'go',
      stopWhen,
    });
    expect(result.steps[0]?.toolResults[0]?.output).toBe(found);
    expect(resultIn(1, 'call_1_1')).toMatch(/^\{"sum":5,"at":\[1,2\]\}\n\n[^]*COX-FEEDBACK-1\./);
    expect(JSON.stringify(result.responseMessages)).toContain(feedbackMark(1));
  });

  test('a tool with its own content gets one more part', async () => {
    const { cox, model, requests } = stage([call('draw'), final]);
    const draw = tool({
      inputSchema: anything,
      execute: async () => 'AA==',
      toModelOutput: ({ output }) => ({
        type: 'content',
        value: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: output } }],
      }),
    });
    await generateText({ ...cox.wrap({ model, tools: { draw } }), prompt: 'go', stopWhen });
    const content = requests[1]?.prompt.at(-1)?.content;
    expect(content).toMatchObject([
      {
        output: { type: 'content', value: [{ type: 'file' }, { type: 'text', text: expect.stringContaining('COX-') }] },
      },
    ]);
  });

  test('preliminary results reach the user one by one, and the last one is the result', async () => {
    const { cox, model, resultIn, recorded } = stage([call('count'), final]);
    const count = tool({
      inputSchema: anything,
      async *execute() {
        yield 'one';
        yield 'two';
      },
    });
    const streamed = streamText({ ...cox.wrap({ model, tools: { count } }), prompt: 'go', stopWhen });
    const seen: unknown[] = [];
    for await (const part of streamed.fullStream) {
      if (part.type === 'tool-result') seen.push([part.output, part.preliminary ?? false]);
    }
    expect(seen).toEqual([
      ['one', true],
      ['two', true],
      ['two', false],
    ]);
    expect(resultIn(1, 'call_1_1')).toMatch(/^two\n\n[^]*COX-FEEDBACK-1\./);
    expect(await recorded('tool_ended')).toMatchObject([{ result: 'two', is_error: false }]);
  });

  test('the result of an MCP tool that says isError is a failed call, and reaches the model as it is', async () => {
    const { cox, model, recorded } = stage([call('find'), final]);
    const answer = { isError: true, content: [{ type: 'text', text: 'no such file' }] };
    const find = tool({ inputSchema: anything, execute: async () => answer });
    const result = await generateText({ ...cox.wrap({ model, tools: { find } }), prompt: 'go', stopWhen });
    expect(result.steps[0]?.toolResults[0]?.output).toBe(answer);
    expect(await recorded('tool_ended')).toMatchObject([{ is_error: true }]);
  });

  test('the error of a tool that fails is the very error, and stays an error for the model', async () => {
    const { cox, model, requests, recorded } = stage([call('boom'), final]);
    const error = new RangeError('kaboom');
    const boom = tool({ inputSchema: anything, execute: async (): Promise<string> => await Promise.reject(error) });
    const result = await generateText({ ...cox.wrap({ model, tools: { boom } }), prompt: 'go', stopWhen });
    const part = result.steps[0]?.content.find(({ type }) => type === 'tool-error');
    expect(part).toMatchObject({ error });
    expect(requests[1]?.prompt.at(-1)?.content).toMatchObject([
      { output: { type: 'error-text', value: expect.stringMatching(/^RangeError: kaboom\n\n[^]*COX-FEEDBACK-1\./) } },
    ]);
    expect(await recorded('tool_ended')).toMatchObject([{ result: 'RangeError: kaboom', is_error: true }]);
  });

  test('arguments that do not fit, and a tool that does not exist, are calls that failed, with feedback', async () => {
    const { cox, model, resultIn, recorded, run } = stage([call('look', { at: 'nowhere' }), call('gone'), final]);
    const look = tool({ inputSchema: z.object({ at: z.number() }), execute: async () => 'never' });
    await generateText({ ...cox.wrap({ model, tools: { look } }), prompt: 'go', stopWhen });
    await run.end();
    expect(resultIn(1, 'call_1_1')).toContain(feedbackMark(1));
    expect(resultIn(2, 'call_1_1')).toContain(feedbackMark(1));
    expect(resultIn(2, 'call_2_1')).toContain(feedbackMark(2));
    expect(await recorded('tool_started', 'tool_ended')).toMatchObject([
      { tool_name: 'look', args: { at: 'nowhere' } },
      { tool_name: 'look', is_error: true },
      { tool_name: 'gone' },
      { tool_name: 'gone', is_error: true },
    ]);
  });

  test('a call that is denied is a call that failed, and the model reads why with the feedback', async () => {
    const { cox, model, requests, recorded } = stage([call('wipe'), final]);
    const wipe = tool({ inputSchema: anything, execute: async () => 'gone' });
    await generateText({
      ...cox.wrap({ model, tools: { wipe } }),
      prompt: 'go',
      stopWhen,
      toolApproval: { wipe: () => ({ type: 'denied', reason: 'not on a Friday' }) },
    });
    expect(JSON.stringify(requests[1]?.prompt.at(-1))).toMatch(/not on a Friday\\n\\n[^]*COX-FEEDBACK-1\./);
    expect(await recorded('tool_ended')).toMatchObject([{ result: 'not on a Friday', is_error: true }]);
  });

  test('a call that waits for approval runs when it is given, and is one call', async () => {
    const { cox, model, resultIn, recorded } = stage([call('wipe'), final]);
    const settings = {
      ...cox.wrap({ model, tools: { wipe: tool({ inputSchema: anything, execute: async () => 'gone' }) } }),
      stopWhen,
      toolApproval: { wipe: 'user-approval' as const },
    };
    const first = await generateText({ ...settings, prompt: 'go' });
    const request = first.content.find((part) => part.type === 'tool-approval-request');
    await generateText({
      ...settings,
      messages: [
        { role: 'user', content: 'go' },
        ...first.responseMessages,
        {
          role: 'tool',
          content: [{ type: 'tool-approval-response', approvalId: request?.approvalId ?? '', approved: true }],
        },
      ],
    });
    expect(await recorded('tool_started', 'tool_ended')).toMatchObject([
      { tool_call_id: 'call_1_1' },
      { tool_call_id: 'call_1_1', result: 'gone', is_error: false },
    ]);
    expect(resultIn(1, 'call_1_1')).toMatch(/^gone\n\n[^]*COX-FEEDBACK-1\./);
  });

  test('a tool that the host runs itself has its result with the next request', async () => {
    const { cox, model, resultIn, recorded } = stage([call('ask', { q: 1 }), final]);
    const ask = tool({ inputSchema: anything, outputSchema: jsonSchema<string>({ type: 'string' }) });
    const settings = { ...cox.wrap({ model, tools: { ask } }), stopWhen };
    const first = await generateText({ ...settings, prompt: 'go' });
    await generateText({
      ...settings,
      messages: [
        { role: 'user', content: 'go' },
        ...first.responseMessages,
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolCallId: 'call_1_1', toolName: 'ask', output: { type: 'text', value: 'blue' } },
          ],
        },
      ],
    });
    expect(resultIn(1, 'call_1_1')).toMatch(/^blue\n\n[^]*COX-FEEDBACK-1\./);
    expect(await recorded('tool_ended')).toMatchObject([{ result: 'blue', is_error: false }]);
  });

  test('a tool that is known only at run time is watched as any other', async () => {
    const { cox, model, resultIn } = stage([call('late'), final]);
    const late = dynamicTool({ inputSchema: anything, execute: async () => 'ok' });
    await generateText({ ...cox.wrap({ model, tools: { late } }), prompt: 'go', stopWhen });
    expect(resultIn(1, 'call_1_1')).toMatch(/^ok\n\n/);
  });

  test('the agent answers advice with the tool it was offered', async () => {
    const answer = { provider: 'Contract', response: 'accepted', note: 'I will.' };
    const { cox, model, requests, recorded } = stage([call('look'), call('acknowledge_advice', answer), final]);
    const look = tool({ inputSchema: anything, execute: async () => 'ok' });
    const tools = { look, acknowledge_advice: cox.acknowledgeTool() };
    await generateText({ ...cox.wrap({ model, tools }), prompt: 'go', stopWhen });
    expect(await recorded('advice_acknowledged')).toMatchObject([{ provider_name: 'Contract', response: 'accepted' }]);
    const offered = requests[0]?.tools?.find(({ name }) => name === 'acknowledge_advice');
    expect(offered).toMatchObject({ type: 'function', inputSchema: { required: ['response'] } });
  });
});

describe('requests in the real SDK', () => {
  test('a request that the SDK tries again is one turn, and its guidance is said once', async () => {
    let requests = 0;
    const prompts: string[] = [];
    const model = new MockLanguageModelV4({
      doGenerate: async ({ prompt }) => {
        prompts.push(JSON.stringify(prompt));
        requests += 1;
        if (requests === 1) {
          throw new APICallError({
            message: 'overloaded',
            url: 'http://127.0.0.1',
            requestBodyValues: {},
            statusCode: 529,
            isRetryable: true,
            responseHeaders: { 'retry-after-ms': '1' },
          });
        }
        return {
          content: [{ type: 'text', text: FINAL_TEXT }],
          finishReason: { unified: 'stop', raw: undefined },
          usage: {
            inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
            outputTokens: { total: 1, text: 1, reasoning: 0 },
          },
          warnings: [],
        };
      },
    });
    const { cox, recorded, run } = stage([], { guidance: [guidanceAlwaysAt('pre_tool_selection')] });
    await generateText({ model: cox.model(model), prompt: 'go' });
    await run.end();
    expect(prompts).toHaveLength(2);
    expect(prompts[1]).toBe(prompts[0]);
    expect(prompts[0]).toContain(guidanceMark('pre_tool_selection'));
    expect(await recorded('turn_started', 'guidance_delivered', 'run_ended')).toMatchObject([
      { kind: 'turn_started' },
      { guidance: { delivered: true } },
      { outcome: 'ended' },
    ]);
  });

  test('an override of messages in prepareStep carries forward, guidance does not', async () => {
    const { cox, model, requests } = stage([call('look'), call('look'), final], {
      guidance: [guidanceAlwaysAt('pre_tool_selection')],
      noise: { cooldownCalls: 0 },
    });
    await generateText({
      ...cox.wrap({ model, tools: { look: tool({ inputSchema: anything, execute: async () => 'ok' }) } }),
      prompt: 'go',
      stopWhen,
      prepareStep: ({ messages, stepNumber }) => ({
        messages: [...messages, { role: 'user', content: `step ${stepNumber}` }],
      }),
    });
    const raw = requests.map((request) => JSON.stringify(request.prompt));
    expect(raw.map((text) => text.split('step 0').length - 1)).toEqual([1, 1, 1]);
    expect(raw.map((text) => text.split(guidanceMark('pre_tool_selection')).length - 1)).toEqual([1, 1, 1]);
    expect(requests.every(({ prompt }) => JSON.stringify(prompt.at(-1)).includes('COX-GUIDANCE'))).toBe(true);
  });

  test('a conversation that goes on in the same run has each message of the user once', async () => {
    const { cox, model, recorded } = stage([call('look'), final, final]);
    const settings = {
      ...cox.wrap({ model, tools: { look: tool({ inputSchema: anything, execute: async () => 'ok' }) } }),
      stopWhen,
    };
    const first = await generateText({ ...settings, prompt: 'go' });
    const history = [{ role: 'user' as const, content: 'go' }, ...first.responseMessages];
    await generateText({ ...settings, messages: [...history, { role: 'user', content: 'go' }] });
    const messages = (await recorded('message_appended')) as readonly { readonly message: { readonly role: string } }[];
    expect(messages.map(({ message }) => message.role)).toEqual([
      'user',
      'assistant',
      'assistant',
      'user',
      'assistant',
    ]);
  });

  test('a model that streams by a middleware of the user’s is watched from outside', async () => {
    const { cox, model, recorded } = stage([{ text: FINAL_TEXT }]);
    const simulated = wrapLanguageModel({ model, middleware: simulateStreamingMiddleware() });
    expect(await streamText({ model: cox.model(simulated), prompt: 'go' }).text).toBe(FINAL_TEXT);
    expect(await recorded('message_appended')).toMatchObject([{}, { message: { content: [{ text: FINAL_TEXT }] } }]);
  });

  test('a replay of the records derives what the run derived', async () => {
    const steering = {
      feedback: [feedbackAfterEachCall()],
      guidance: [guidanceAlwaysAt('pre_tool_selection'), guidanceAlwaysAt('pre_response')],
    };
    const { cox, model, run, records } = stage([call('look'), call('look'), call('look'), final], steering);
    const look = tool({ inputSchema: anything, execute: async () => 'the same' });
    await generateText({ ...cox.wrap({ model, tools: { look } }), prompt: 'go', stopWhen });
    await run.end();
    const live = await records();
    const replay = new Replay({ steering });
    const derived = live.flatMap((record) => replay.take(record));
    const stored = live.flatMap(({ payload }) => (isDerived(payload) ? [payload] : []));
    expect(stored.length).toBeGreaterThan(3);
    expect(derived).toEqual(stored);
  });
});

describe('endings in the real SDK', () => {
  test('an abort while a tool runs ends the run as aborted', async () => {
    const { cox, model, run, recorded } = stage([call('wait'), final]);
    const controller = new AbortController();
    const wait = tool({
      inputSchema: anything,
      execute: async (_input, { abortSignal }) => {
        controller.abort();
        abortSignal?.throwIfAborted();
        return 'never';
      },
    });
    const ended = generateText({
      ...cox.wrap({ model, tools: { wait } }),
      prompt: 'go',
      stopWhen,
      abortSignal: controller.signal,
    });
    await expect(ended).rejects.toThrow('aborted');
    await run.end();
    expect(await recorded('tool_ended', 'run_ended')).toMatchObject([{ is_error: true }, { outcome: 'aborted' }]);
  });

  test('a time limit of the SDK’s own ends the run as aborted', async () => {
    const { cox, run, recorded } = stage([]);
    const scripted = scriptedAiModel({ script: { turns: [{ text: 'late', answerAfterMs: 60_000 }] } });
    await expect(
      generateText({ model: cox.model(scripted.model), prompt: 'go', maxRetries: 0, timeout: 20 }),
    ).rejects.toThrow(expect.objectContaining({ name: 'TimeoutError' }));
    await run.end();
    expect(await recorded('run_ended')).toMatchObject([{ outcome: 'aborted' }]);
  });

  test('parts of a stream reach the user while the model still answers', async () => {
    const { cox } = stage([]);
    let sent = 0;
    const parts = [
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'one ' },
      { type: 'text-delta', id: '1', delta: 'two' },
    ] as const;
    const firstPart = Promise.withResolvers<void>();
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream({
          async pull(controller) {
            const part = parts[sent];
            sent += 1;
            if (part !== undefined) return controller.enqueue(part);
            await firstPart.promise;
            controller.close();
          },
        }),
      }),
    });
    const streamed = streamText({ model: cox.model(model), prompt: 'go', onError: () => undefined });
    let text = '';
    for await (const delta of streamed.textStream) {
      text += delta;
      // The model is still at it: what is read here has not waited for its end.
      if (text === 'one two') firstPart.resolve();
    }
    expect(text).toBe('one two');
  });

  test('a store that is slow, a server that fails and parallel calls: every entry point ends alike', async () => {
    for (const scene of [PARALLEL, SERVER_ERROR]) {
      const endings = [];
      for (const variant of [
        {},
        { entry: 'agent' },
        { streaming: true },
        { entry: 'agent', streaming: true },
      ] as const) {
        const store = memoryStore();
        const run = createCoxswain({ store, clock: createFakeClock(), ...SPEAKING, guidance: [] }).startRun();
        const { finalText, toolRuns } = await playAi({ ...scene, ...variant, run });
        const kinds = (await readAll(store, run.id)).map(({ payload }) => payload.kind);
        endings.push({ finalText, toolRuns, kinds: kinds.toSorted() });
      }
      expect(endings.slice(1)).toEqual([endings[0], endings[0], endings[0]]);
    }
  });
});
