import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createCoxswain, type CoxswainOptions } from '../../core/run/coxswain.ts';
import type { DecisionPoint } from '../../core/records/spoken-advice.ts';
import type { StoredMessage } from '../../core/records/agent-message.ts';
import type { TrajectoryPayload } from '../../core/records/trajectory-record.ts';
import { staticFeedback } from '../../core/steering/feedback/built-in-feedback.ts';
import type { GuidanceProviderConfig } from '../../core/steering/prompt/guidance-provider.ts';
import type { Run } from '../../core/run/run.ts';
import { memoryStore } from '../../core/store/memory-store.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { readAll } from '../../../test/support/script-records.ts';
import type { RefusalOptions } from '../host/adapter-options.ts';
import { coxswainAgent, type CoxswainAgent } from './coxswain-agent.ts';
import type { PromptMessage } from './sdk-shapes.ts';

/** A request as the model got it. */
interface Seen {
  readonly prompt: readonly PromptMessage[];
  readonly tools?: readonly { readonly name: string }[];
  readonly maxOutputTokens?: number;
}

interface Scene {
  readonly run: Run;
  readonly cox: CoxswainAgent;
  readonly faults: () => number;
  /** Payloads of the kinds, in order. */
  readonly recorded: (...kinds: readonly TrajectoryPayload['kind'][]) => Promise<readonly TrajectoryPayload[]>;
  /** Messages of that role that joined the transcript, in order. */
  readonly messagesOf: (role: StoredMessage['role']) => Promise<readonly StoredMessage[]>;
}

function setUp(options: RefusalOptions = {}, steering: CoxswainOptions = {}): Scene {
  const store = memoryStore();
  const coxswain = createCoxswain({ store, clock: createFakeClock(), feedback: [], guidance: [], ...steering });
  const run = coxswain.startRun();
  const payloads = async (): Promise<readonly TrajectoryPayload[]> => {
    await run.flush();
    return (await readAll(store, run.id)).map(({ payload }) => payload);
  };
  return {
    run,
    cox: coxswainAgent(run, options),
    faults: () => coxswain.health().faults,
    recorded: async (...kinds) => (await payloads()).filter(({ kind }) => kinds.includes(kind)),
    messagesOf: async (role) =>
      (await payloads()).flatMap((payload) =>
        payload.kind === 'message_appended' && payload.message.role === role ? [payload.message] : [],
      ),
  };
}

/** A model that gives one thing after another: an answer, or an error that it throws. */
function modelOf(...answers: readonly unknown[]): {
  readonly seen: Seen[];
  readonly specificationVersion: 'v4';
  readonly provider: string;
  readonly modelId: string;
  doGenerate(request: Seen): Promise<unknown>;
  doStream(request: Seen): Promise<{ readonly stream: ReadableStream<unknown> }>;
} {
  const seen: Seen[] = [];
  const next = async (request: Seen): Promise<unknown> => {
    const answer = answers[seen.push(request) - 1] ?? say('done');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return {
    seen,
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'test-model',
    doGenerate: next,
    async doStream(request) {
      const answer = await next(request);
      return { stream: ReadableStream.from(answer instanceof Parts ? answer.parts : partsOf(answer as Answer)) };
    },
  };
}

/** Parts of a stream as they are. */
class Parts {
  readonly parts: readonly unknown[];
  constructor(...parts: readonly unknown[]) {
    this.parts = parts;
  }
}

interface Answer {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly finishReason: { readonly unified: string };
  readonly usage: unknown;
}

function say(text: string, finish = 'stop', outputTokens = 5): Answer {
  const usage = { inputTokens: { total: 10 }, outputTokens: { total: outputTokens } };
  return { content: [{ type: 'text', text }], finishReason: { unified: finish }, usage };
}

function callFor(name: string, id: string): Answer {
  const call = { type: 'tool-call', toolCallId: id, toolName: name, input: '{"a":1}' };
  return { ...say('', 'tool-calls'), content: [call] };
}

function partsOf({ content, finishReason, usage }: Answer): readonly unknown[] {
  return [
    { type: 'stream-start', warnings: [] },
    ...content.flatMap((part) =>
      part.type === 'text'
        ? [
            { type: 'text-delta', id: '0', delta: part.text },
            { type: 'text-end', id: '0' },
          ]
        : [part],
    ),
    { type: 'finish', finishReason, usage },
  ];
}

const user = (text: string): PromptMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const callMessage = (id: string): PromptMessage => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: id, toolName: 'run', input: { a: 1 } }],
});
const answered = (id: string, output: unknown): PromptMessage => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: id, toolName: 'run', output }],
});
const toolNames = [
  { type: 'function', name: 'run' },
  { type: 'function', name: 'ask' },
];

/** Calls a method of a watched model as the SDK does. */
async function generate(
  model: { doGenerate(request: never): PromiseLike<unknown> },
  request: object,
): Promise<unknown> {
  return await model.doGenerate(request as never);
}

async function stream(
  model: { doStream(request: never): PromiseLike<unknown> },
  request: object,
): Promise<readonly { readonly type: string }[]> {
  const { stream: parts } = (await model.doStream(request as never)) as { stream: ReadableStream<{ type: string }> };
  return await Array.fromAsync(parts);
}

function guidanceAt(...points: readonly DecisionPoint[]): GuidanceProviderConfig[] {
  return points.map((point) => ({
    provider: {
      name: `At ${point}`,
      category: point,
      decisionPoints: [point],
      classify: () => ({ relevant: true, confidence: 1 }),
      provide: () => ({ key: 'say', content: `SAY ${point}` }),
    },
    maxPerRun: 1,
  }));
}

const feedback = [{ provider: staticFeedback({ name: 'Test', summary: 'SAY IT' }), trigger: { everyNCalls: 1 } }];
const SAID = '[Feedback - Test]\n\nSAY IT';

function lastText(request: Seen | undefined): string {
  return JSON.stringify(request?.prompt.at(-1));
}

test('a watched model is the model in everything but its two methods', async () => {
  class Private {
    readonly #name = 'hidden';
    readonly specificationVersion = 'v3';
    readonly provider = 'test';
    readonly extra = 7;
    get modelId(): string {
      return this.#name;
    }
    get supportedUrls(): object {
      return { [this.#name]: [] };
    }
    doGenerate = async (): Promise<unknown> => say('done');
    doStream = async (): Promise<unknown> => undefined;
  }
  const model = new Private();
  const watched = setUp().cox.model(model);
  expect(watched).toBeInstanceOf(Private);
  expect([watched.modelId, watched.specificationVersion, watched.extra]).toEqual(['hidden', 'v3', 7]);
  expect(watched.supportedUrls).toEqual({ hidden: [] });
  expect(await generate(watched, { prompt: [user('go')] })).toEqual(say('done'));
});

test('watching twice reports everything once', async () => {
  const { cox, recorded } = setUp();
  const model = cox.model(modelOf(say('done')));
  const settings = cox.wrap(cox.wrap({ model, tools: { run: { execute: () => 1 } }, other: 'stays' }));
  expect(settings.model).toBe(model);
  expect(settings.other).toBe('stays');
  await generate(settings.model, { prompt: [user('go')] });
  settings.tools.run.execute.call(undefined, ...([{}, { toolCallId: 'c1' }] as unknown as []));
  expect(await recorded('turn_started', 'tool_started')).toHaveLength(2);
});

test('the name of a model cannot be watched: it stays, and that is a fault', async () => {
  const { cox, faults, recorded } = setUp();
  expect(cox.model('openai/gpt-5')).toBe('openai/gpt-5');
  expect(faults()).toBe(1);
  expect(await recorded('fault_noticed')).toMatchObject([
    { message: expect.stringContaining('gateway("openai/gpt-5")') },
  ]);
  expect(() => setUp({ onError: 'throw' }).cox.model('openai/gpt-5')).toThrow('no model was found');
});

test('a turn is reported in order: messages, request, answer, tool results', async () => {
  const { cox, run, recorded } = setUp();
  const model = cox.model(modelOf(callFor('run', 'c1'), say('done')));
  const tools = cox.tools({ run: { execute: (_input: object, _options: object) => ({ sum: 2 }) } });
  const system = { role: 'system', content: 'be good' };
  await generate(model, { prompt: [system, user('go')], tools: toolNames });
  tools.run.execute({ a: 1 }, { toolCallId: 'c1' });
  const after = [system, user('go'), callMessage('c1'), answered('c1', { type: 'json', value: { sum: 2 } })];
  await generate(model, { prompt: after, tools: toolNames });
  await run.end();
  const kinds = ['turn_started', 'message_appended', 'tool_started', 'tool_ended'] as const;
  const payloads = await recorded('run_started', 'run_identified', ...kinds, 'provider_request_prepared', 'run_ended');
  expect(
    payloads.map((payload) => (payload.kind === 'message_appended' ? payload.message.role : payload.kind)),
  ).toEqual([
    'run_started',
    'run_identified',
    'system',
    'user',
    'turn_started',
    'provider_request_prepared',
    'assistant',
    'tool_started',
    'tool_ended',
    'turn_started',
    'provider_request_prepared',
    'assistant',
    'run_ended',
  ]);
  expect(payloads[1]).toEqual({ kind: 'run_identified', model_id: 'test-model' });
  expect(payloads[5]).toMatchObject({ iteration: 0, message_count: 2, system_prompt_chars: 7, tools: ['run', 'ask'] });
  expect(payloads[8]).toMatchObject({ tool_call_id: 'c1', result: { sum: 2 }, is_error: false });
  expect(payloads[10]).toMatchObject({ iteration: 1, message_count: 4 });
});

test('a user message is reported once, however many requests repeat it, and again when the user repeats it', async () => {
  const { cox, messagesOf } = setUp();
  const model = cox.model(modelOf(callFor('run', 'c1'), say('done'), say('done')));
  const history = [user('go'), callMessage('c1'), answered('c1', { type: 'text', value: 'ok' })];
  await generate(model, { prompt: [user('go')] });
  await generate(model, { prompt: history });
  const done: PromptMessage = { role: 'assistant', content: [{ type: 'text', text: 'done' }] };
  await generate(model, { prompt: [...history, done, user('go')] });
  expect(await messagesOf('user')).toHaveLength(2);
});

test('feedback after a tool of any kind reaches the model, and the tool’s own result is untouched', async () => {
  const { cox } = setUp({}, { feedback });
  const output = { type: 'content', value: [{ type: 'text', text: 'own' }] };
  const tools = cox.tools({
    plain: { execute: (_input: object, _options: object) => 'ok' },
    slow: { execute: async (_input: object, _options: object) => ({ sum: 2 }) },
    own: { execute: (_input: object, _options: object) => 1, toModelOutput: async () => output },
    each: {
      execute: async function* (_input: object, _options: object): AsyncGenerator<string> {
        yield 'half';
        yield 'whole';
      },
    },
  });
  const modelOutput = async (tool: object, toolCallId: string, result: unknown): Promise<unknown> => {
    const { toModelOutput } = tool as { toModelOutput: (call: object) => unknown };
    return await toModelOutput({ toolCallId, input: {}, output: result });
  };
  expect(tools.plain.execute({}, { toolCallId: 'c1' })).toBe('ok');
  expect(await modelOutput(tools.plain, 'c1', 'ok')).toEqual({ type: 'text', value: `ok\n\n${SAID}` });
  expect(await tools.slow.execute({}, { toolCallId: 'c2' })).toEqual({ sum: 2 });
  expect(await modelOutput(tools.slow, 'c2', { sum: 2 })).toEqual({ type: 'text', value: `{"sum":2}\n\n${SAID}` });
  tools.own.execute({}, { toolCallId: 'c3' });
  const own = { type: 'content', value: [...output.value, { type: 'text', text: SAID }] };
  expect(await modelOutput(tools.own, 'c3', 1)).toEqual(own);
  // The SDK may ask more than once.
  expect(await modelOutput(tools.own, 'c3', 1)).toEqual(own);
  expect(await Array.fromAsync(tools.each.execute({}, { toolCallId: 'c4' }))).toEqual(['half', 'whole']);
  expect(await modelOutput(tools.each, 'c4', 'whole')).toEqual({ type: 'text', value: `whole\n\n${SAID}` });
});

test('a tool that fails fails with the very same error, and the next request brings feedback on it, each time', async () => {
  const { cox, recorded } = setUp({}, { feedback });
  const error = new Error('kaboom');
  const failing = {
    execute: (_input: object, _options: object): never => {
      throw error;
    },
  };
  const rejecting = {
    execute: async (_input: object, _options: object): Promise<never> => {
      throw error;
    },
  };
  const tools = cox.tools({ failing, rejecting });
  const own = modelOf(callFor('failing', 'c1'), callFor('rejecting', 'c2'));
  const model = cox.model(own);
  await generate(model, { prompt: [user('go')] });
  expect(() => tools.failing.execute({}, { toolCallId: 'c1' })).toThrow(error);
  const first = answered('c1', { type: 'error-text', value: 'Error: kaboom' });
  await generate(model, { prompt: [user('go'), callMessage('c1'), first] });
  await expect(tools.rejecting.execute({}, { toolCallId: 'c2' })).rejects.toBe(error);
  const second = answered('c2', { type: 'error-text', value: 'Error: kaboom' });
  await generate(model, { prompt: [user('go'), callMessage('c1'), first, callMessage('c2'), second] });
  const changed = { type: 'error-text', value: `Error: kaboom\n\n${SAID}` };
  expect(own.seen[1]?.prompt[2]).toEqual(answered('c1', changed));
  expect([own.seen[2]?.prompt[2], own.seen[2]?.prompt[4]]).toEqual([answered('c1', changed), answered('c2', changed)]);
  expect(await recorded('tool_ended')).toMatchObject([
    { tool_call_id: 'c1', result: 'Error: kaboom', is_error: true },
    { tool_call_id: 'c2', result: 'Error: kaboom', is_error: true },
  ]);
});

test('a tool that stops because the user aborted was cancelled, and one that fails by itself was not', async () => {
  const { cox, recorded } = setUp();
  const controller = new AbortController();
  const fetching = {
    execute: (_input: object, options: { readonly abortSignal: AbortSignal }): never => {
      options.abortSignal.throwIfAborted();
      throw new DOMException('took too long', 'TimeoutError');
    },
  };
  const tools = cox.tools({ fetching });
  const model = cox.model(modelOf(callFor('fetching', 'c1'), callFor('fetching', 'c2')));
  const options = { abortSignal: controller.signal };
  for (const toolCallId of ['c1', 'c2']) {
    await generate(model, { prompt: [user('go')] });
    expect(() => tools.fetching.execute({}, { ...options, toolCallId } as never)).toThrow(/took too long|aborted/);
    controller.abort();
  }
  const [failed, cancelled] = await recorded('tool_ended');
  expect(failed).not.toHaveProperty('outcome');
  expect(cancelled).toMatchObject({ outcome: 'cancelled' });
});

test('a call that no tool of ours runs ends when its result comes: refused, denied, run by the host', async () => {
  const { cox, recorded } = setUp({}, { feedback });
  const own = modelOf(callFor('run', 'c1'), say('done'));
  const model = cox.model(own);
  await generate(model, { prompt: [user('go')] });
  await generate(model, {
    prompt: [user('go'), callMessage('c1'), answered('c1', { type: 'execution-denied', reason: 'no' })],
  });
  expect(own.seen[1]?.prompt[2]).toEqual(answered('c1', { type: 'execution-denied', reason: `no\n\n${SAID}` }));
  expect(await recorded('tool_started', 'tool_ended', 'turn_started')).toMatchObject([
    { kind: 'turn_started' },
    { kind: 'tool_started', tool_call_id: 'c1', args: { a: 1 } },
    { kind: 'tool_ended', tool_call_id: 'c1', result: 'no', is_error: true },
    { kind: 'turn_started' },
  ]);
});

test('a result of a shape that takes no text stays as it is, and the feedback is undelivered', async () => {
  const { cox, recorded } = setUp({}, { feedback });
  const own = modelOf(callFor('run', 'c1'), say('done'));
  const model = cox.model(own);
  await generate(model, { prompt: [user('go')] });
  const strange = answered('c1', { type: 'hologram', value: 1 });
  await generate(model, { prompt: [user('go'), callMessage('c1'), strange] });
  expect(own.seen[1]?.prompt[2]).toBe(strange);
  expect(await recorded('feedback_delivered')).toMatchObject([
    { delivered: false, reason: 'a result of this shape takes no text' },
  ]);
});

test('advice on a call that the provider ran itself comes with the next request', async () => {
  const { cox, recorded } = setUp({}, { feedback });
  const content = [
    { type: 'tool-call', toolCallId: 'p1', toolName: 'web_search', input: '{}', providerExecuted: true },
    { type: 'tool-result', toolCallId: 'p1', toolName: 'web_search', result: ['found'] },
  ];
  const own = modelOf({ ...callFor('run', 'c1'), content: [...content, ...callFor('run', 'c1').content] });
  const model = cox.model(own);
  await generate(model, { prompt: [user('go')] });
  const prompt = [user('go'), callMessage('c1'), answered('c1', { type: 'text', value: 'ok' })];
  await generate(model, { prompt });
  expect(own.seen[1]?.prompt.slice(0, 2)).toEqual(prompt.slice(0, 2));
  expect(own.seen[1]?.prompt.at(-1)).toEqual(user(SAID));
  expect(await recorded('tool_ended')).toMatchObject([
    { tool_call_id: 'p1', tool_name: 'web_search', result: ['found'] },
    { tool_call_id: 'c1' },
  ]);
});

test('advice that no request follows is recorded as undelivered when the run ends', async () => {
  const { cox, run, recorded } = setUp({}, { feedback, guidance: guidanceAt('pre_tool_execution') });
  const model = cox.model(modelOf(callFor('run', 'c1')));
  const tools = cox.tools({
    run: { execute: async (_input: object, _options: object): Promise<never> => Promise.reject(new Error('no')) },
  });
  await generate(model, { prompt: [user('go')] });
  await expect(tools.run.execute({}, { toolCallId: 'c1' })).rejects.toThrow('no');
  await run.end();
  expect(await recorded('feedback_delivered', 'guidance_delivered')).toMatchObject([
    { guidance: { delivered: false, reason: 'no request followed' } },
    { delivered: false, reason: 'no request followed' },
  ]);
});

test('an id that the model uses twice is two calls', async () => {
  const { cox, recorded } = setUp({}, { feedback });
  const tools = cox.tools({ run: { execute: (input: unknown, _options: object) => input } });
  const model = cox.model(modelOf(callFor('run', 'c1'), callFor('run', 'c1')));
  for (const value of ['one', 'two']) {
    await generate(model, { prompt: [user('go')] });
    tools.run.execute(value, { toolCallId: 'c1' });
  }
  expect(await recorded('tool_ended')).toMatchObject([
    { tool_call_id: 'c1', result: 'one' },
    { tool_call_id: 'c1#2', result: 'two' },
  ]);
});

test('a request that is tried again is one turn, and brings the same guidance again', async () => {
  const { cox, recorded, messagesOf } = setUp({}, { guidance: guidanceAt('pre_render', 'pre_tool_selection') });
  const own = modelOf(new Error('overloaded'), say('done'));
  const model = cox.model(own);
  await expect(generate(model, { prompt: [user('go')] })).rejects.toThrow('overloaded');
  expect(await recorded('guidance_delivered')).toEqual([]);
  await generate(model, { prompt: [user('go')] });
  expect(lastText(own.seen[0])).toMatch(/SAY pre_render.*SAY pre_tool_selection/);
  expect(own.seen[1]?.prompt).toEqual(own.seen[0]?.prompt);
  expect(await recorded('turn_started')).toHaveLength(1);
  expect(await recorded('guidance_delivered')).toMatchObject([
    { guidance: { delivered: true, channel: 'last-message' } },
    { guidance: { delivered: true, channel: 'last-message' } },
  ]);
  expect(await messagesOf('assistant')).toMatchObject([
    { stop_reason: 'error', error_message: 'overloaded' },
    { stop_reason: 'stop' },
  ]);
});

test('an API that refuses the message with guidance is callMessage without it, and gets none any more', async () => {
  const refusal = Object.assign(new Error('no user message after a tool'), { statusCode: 400 });
  const { cox, recorded, faults } = setUp(
    {},
    { guidance: guidanceAt('pre_render', 'pre_tool_selection', 'pre_tool_execution') },
  );
  const own = modelOf(refusal, callFor('run', 'c1'), say('done'));
  const model = cox.model(own);
  await generate(model, { prompt: [user('go')] });
  const prompt = [user('go'), callMessage('c1'), answered('c1', { type: 'text', value: 'ok' })];
  await generate(model, { prompt });
  expect(own.seen.map((request) => request.prompt.length)).toEqual([2, 1, 3]);
  expect(await recorded('guidance_delivered')).toMatchObject([
    { guidance: { delivered: false, reason: 'the API refused a message after the last one' } },
    { guidance: { delivered: false } },
    { guidance: { delivered: false, reason: 'the API takes no message after the last one' } },
  ]);
  expect(faults()).toBe(1);
});

test('a refusal that has another cause is thrown as it is', async () => {
  const refusals = [1, 2].map((count) => Object.assign(new Error(`refused ${count}`), { statusCode: 400 }));
  const { cox, faults, run, recorded } = setUp({}, { guidance: guidanceAt('pre_render') });
  const model = cox.model(modelOf(...refusals));
  await expect(generate(model, { prompt: [user('go')] })).rejects.toBe(refusals[1]);
  await run.end();
  expect(faults()).toBe(0);
  expect(await recorded('run_ended')).toMatchObject([{ outcome: 'error' }]);
  expect(await recorded('guidance_delivered')).toMatchObject([{ guidance: { delivered: false, reason: 'refused 2' } }]);
});

test.each([
  ['an abort', new DOMException('stop', 'AbortError'), 'aborted'],
  ['a time limit', new DOMException('late', 'TimeoutError'), 'aborted'],
  ['an error', new Error('HTTP 500'), 'error'],
])('a run whose last request ended with %s says so', async (_what, error, outcome) => {
  const { cox, run, recorded } = setUp();
  await expect(generate(cox.model(modelOf(error)), { prompt: [user('go')] })).rejects.toBe(error);
  await run.end();
  expect(await recorded('run_ended')).toMatchObject([{ outcome }]);
});

test('an abort while tools run ends the run as aborted; one after the last answer does not', async () => {
  for (const [answer, outcome] of [
    [callFor('run', 'c1'), 'aborted'],
    [say('done'), 'ended'],
  ] as const) {
    const { cox, run, recorded } = setUp();
    const controller = new AbortController();
    await generate(cox.model(modelOf(answer)), { prompt: [user('go')], abortSignal: controller.signal });
    controller.abort();
    await run.end();
    expect(await recorded('run_ended')).toMatchObject([{ outcome }]);
  }
});

test('an outcome that the host names wins', async () => {
  const { cox, run, recorded } = setUp();
  await expect(generate(cox.model(modelOf(new Error('no'))), { prompt: [user('go')] })).rejects.toThrow('no');
  await run.end('limit');
  expect(await recorded('run_ended')).toMatchObject([{ outcome: 'limit' }]);
});

test('a request or an answer of an unknown shape goes its way, and is on record once', async () => {
  const { cox, recorded, faults } = setUp();
  const strange = { holograms: [] };
  const own = modelOf(
    strange,
    strange,
    { ...say('x'), content: [{ type: 'hologram' }] },
    { ...say('x'), content: [{ type: 'hologram' }] },
  );
  const model = cox.model(own);
  expect(await generate(model, { prompt: 'text' })).toBe(strange);
  expect(await generate(model, { prompt: [user('go')] })).toBe(strange);
  for (const prompt of [[user('a')], [user('b')]]) await generate(model, { prompt });
  expect(await recorded('unrecognised')).toMatchObject([
    { original: { what: 'request' } },
    { original: { what: 'answer' } },
    { original: { what: 'answer part', type: 'hologram' } },
  ]);
  expect(faults()).toBe(0);
});

test('a stream goes through as it comes, part by part', async () => {
  const { cox } = setUp({}, { feedback });
  let sent = 0;
  const parts = partsOf(say('hello'));
  const source = new ReadableStream(
    {
      pull(controller) {
        if (sent < parts.length) controller.enqueue(parts[sent]);
        else controller.close();
        sent += 1;
      },
    },
    { highWaterMark: 0 },
  );
  const own = { ...modelOf(), doStream: async (_request: object) => ({ stream: source, request: 'kept' }) };
  const result = await cox.model(own).doStream({ prompt: [user('go')] });
  expect(result.request).toBe('kept');
  const reader = result.stream.getReader();
  for (const [index, part] of parts.slice(0, 2).entries()) {
    expect((await reader.read()).value).toBe(part);
    // A stream that reads ahead would have done so by now.
    await setImmediate();
    expect(sent).toBe(index + 1);
  }
});

test.each([
  [
    'an error part',
    new Parts({ type: 'text-delta', id: '0', delta: 'I l' }, { type: 'error', error: new Error('gone') }),
    'gone',
    'error',
  ],
  [
    'no finish',
    new Parts({ type: 'text-delta', id: '0', delta: 'I l' }),
    'the stream ended before the answer was complete',
    'error',
  ],
] as const)(
  'a stream that breaks with %s is on record with what there was of it',
  async (_what, parts, error, outcome) => {
    const { cox, run, recorded } = setUp();
    expect(await stream(cox.model(modelOf(parts)), { prompt: [user('go')] })).toEqual(parts.parts);
    await run.end();
    expect(await recorded('message_appended', 'run_ended')).toMatchObject([
      { message: { role: 'user' } },
      { message: { content: [{ text: 'I l' }], stop_reason: outcome, error_message: error } },
      { outcome },
    ]);
  },
);

test('a stream that its reader gives up is given up, and the run says aborted', async () => {
  const { cox, run, recorded } = setUp();
  let reason: unknown;
  const source = new ReadableStream({
    pull: (controller) => controller.enqueue({ type: 'text-delta', id: '0', delta: 'more ' }),
    cancel: (why) => void (reason = why),
  });
  const watched = cox.model({ ...modelOf(), doStream: async (_request: object) => ({ stream: source }) });
  const { stream: parts } = await watched.doStream({ prompt: [user('go')] });
  const reader = parts.getReader();
  await reader.read();
  await reader.cancel('enough');
  await run.end();
  expect(reason).toBe('enough');
  expect(await recorded('run_ended')).toMatchObject([{ outcome: 'aborted' }]);
});

test('the agent answers advice with the tool, whatever it sends', async () => {
  const { cox, recorded } = setUp({}, { feedback });
  const tool = cox.acknowledgeTool();
  const schema = tool.inputSchema['~standard'];
  expect(schema.jsonSchema.input()).toMatchObject({ type: 'object', required: ['response'] });
  expect(schema.validate({ response: 'maybe' })).toHaveProperty('issues');
  expect(schema.validate({ response: 'noted' })).toEqual({ value: { response: 'noted' } });
  const tools = cox.tools({ run: { execute: (_input: object, _options: object) => 1 } });
  tools.run.execute({}, { toolCallId: 'c1' });
  expect(tool.execute({ provider: 'Test', response: 'accepted' })).toBe('Noted.');
  expect(tool.execute({ provider: 'Unknown', response: 'accepted' })).toContain('Name advice');
  expect(await recorded('advice_acknowledged')).toMatchObject([{ provider_name: 'Test', response: 'accepted' }, {}]);
});

test('a tool that is run by hand, or that the SDK does not run, is left alone', async () => {
  const { cox, recorded } = setUp();
  const client = { description: 'run by the host' };
  const tools = cox.tools({ run: { execute: (input: number) => input + 1 }, client });
  expect(tools.client).toBe(client);
  expect(tools.run.execute(1)).toBe(2);
  expect(await recorded('tool_started')).toEqual([]);
});

test('a tool keeps its prototype, its getters and its this', () => {
  class Tool {
    readonly #secret = 7;
    get description(): string {
      return 'a tool';
    }
    execute(_input: object, _options: object): number {
      return this.#secret;
    }
  }
  const { run } = setUp().cox.tools({ run: new Tool() });
  expect(run).toBeInstanceOf(Tool);
  expect(run.description).toBe('a tool');
  expect(run.execute({}, { toolCallId: 'c1' })).toBe(7);
});

test('a call whose results are not read to the end was stopped', async () => {
  const { cox, recorded } = setUp();
  const tools = cox.tools({
    each: {
      execute: async function* (_input: object, _options: object): AsyncGenerator<number> {
        yield 1;
        yield 2;
      },
    },
  });
  for await (const first of tools.each.execute({}, { toolCallId: 'c1' })) if (first === 1) break;
  expect(await recorded('tool_ended')).toMatchObject([
    { is_error: true, result: 'the tool was stopped before its end' },
  ]);
});

test('feedback that the history holds is not added to requests a second time', async () => {
  const { cox } = setUp({}, { feedback });
  const own = modelOf(callFor('run', 'c1'), say('done'));
  const model = cox.model(own);
  const tools = cox.tools({
    run: {
      execute: (_input: object, _options: object) => 'ok',
      toModelOutput: (_call: object): object => ({ type: 'text', value: 'ok' }),
    },
  });
  await generate(model, { prompt: [user('go')] });
  tools.run.execute({}, { toolCallId: 'c1' });
  const output = tools.run.toModelOutput({ toolCallId: 'c1', output: 'ok' });
  expect(output).toEqual({ type: 'text', value: `ok\n\n${SAID}` });
  const prompt = [user('go'), callMessage('c1'), answered('c1', output)];
  await generate(model, { prompt });
  expect(own.seen[1]?.prompt).toBe(prompt);
});

test('guidance in a request that was aborted is undelivered, and does not come again', async () => {
  const { cox, recorded } = setUp({}, { guidance: guidanceAt('pre_tool_selection') });
  const own = modelOf(new DOMException('stop', 'AbortError'), say('done'));
  const model = cox.model(own);
  await expect(generate(model, { prompt: [user('go')] })).rejects.toThrow('stop');
  expect(await recorded('guidance_delivered')).toMatchObject([{ guidance: { delivered: false, reason: 'stop' } }]);
  await generate(model, { prompt: [user('go')] });
  expect(own.seen[1]?.prompt).toEqual([user('go')]);
});

test('a broken stream off and is callMessage for again brings its guidance again, with one verdict', async () => {
  const { cox, run, recorded } = setUp({}, { guidance: guidanceAt('pre_tool_selection') });
  const broken = new Parts({ type: 'error', error: new Error('gone') });
  const own = modelOf(broken, say('done'));
  const model = cox.model(own);
  await stream(model, { prompt: [user('go')] });
  await stream(model, { prompt: [user('go')] });
  await run.end();
  expect(own.seen[1]?.prompt).toEqual([
    user('go'),
    user('[Guidance - At pre_tool_selection]\n\nSAY pre_tool_selection'),
  ]);
  expect(await recorded('turn_started')).toHaveLength(1);
  expect(await recorded('guidance_delivered')).toMatchObject([{ guidance: { delivered: true } }]);
});

test('an unknown option is refused', () => {
  expect(() => setUp({ forceTurn: true } as RefusalOptions)).toThrow(/has no member forceTurn/);
});
