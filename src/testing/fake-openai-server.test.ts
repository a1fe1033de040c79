import { afterEach, expect, test } from 'vitest';

import type { FakeModelServer, ModelScript } from './model-script.ts';
import { startFakeOpenAiServer } from './fake-openai-server.ts';
import { streamEvents } from '../../test/support/stream-events.ts';

let server: FakeModelServer | undefined;

afterEach(async () => {
  await server?.close();
});

async function post(path: string, body: object): Promise<Response> {
  return await fetch(`${server?.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-x', ...body }),
  });
}

const CALLS: ModelScript = {
  turns: [
    {
      text: 'I look.',
      calls: [
        { name: 'look', args: { at: 1 } },
        { name: 'look', args: { at: 2 } },
      ],
      usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 5 },
    },
  ],
};

test('chat: a turn with two calls is a message with two tool calls', async () => {
  server = await startFakeOpenAiServer({ script: CALLS });
  expect(await (await post('chat/completions', { messages: [] })).json()).toMatchObject({
    object: 'chat.completion',
    model: 'gpt-x',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            { id: 'call_1_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
            { id: 'call_1_2', type: 'function', function: { name: 'look', arguments: '{"at":2}' } },
          ],
        },
      },
    ],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, prompt_tokens_details: { cached_tokens: 5 } },
  });
});

interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function: { readonly arguments: string };
      }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: object;
}

test('chat: a stream gives in parts what the plain answer gives whole, and usage when it is asked for', async () => {
  server = await startFakeOpenAiServer({ script: () => CALLS.turns[0] ?? {} });
  const body = { stream: true, stream_options: { include_usage: true } };
  // The shape of the fake's own chunks.
  const chunks = (await streamEvents(await post('chat/completions', body))) as unknown as readonly Chunk[];
  const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta));
  expect(deltas.map((delta) => delta.content ?? '').join('')).toBe('I look.');
  const calls = deltas.flatMap((delta) => delta.tool_calls ?? []);
  expect(calls.flatMap((call) => call.id ?? [])).toEqual(['call_1_1', 'call_1_2']);
  const second = calls.filter((call) => call.index === 1);
  expect(second.map((call) => call.function.arguments).join('')).toBe('{"at":2}');
  expect(chunks.flatMap((chunk) => chunk.choices.flatMap((choice) => choice.finish_reason ?? []))).toEqual([
    'tool_calls',
  ]);
  expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 7 });
  const without = await streamEvents(await post('chat/completions', { stream: true }));
  expect(without.some((chunk) => 'usage' in chunk)).toBe(false);
});

test('Responses: a turn with two calls is a list of three items', async () => {
  server = await startFakeOpenAiServer({ script: CALLS });
  expect(await (await post('responses', { input: 'go' })).json()).toMatchObject({
    object: 'response',
    status: 'completed',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'call_1_1', name: 'look', arguments: '{"at":1}' },
      { type: 'function_call', call_id: 'call_1_2', name: 'look', arguments: '{"at":2}' },
    ],
    usage: { input_tokens: 7, input_tokens_details: { cached_tokens: 5 }, output_tokens: 3, total_tokens: 10 },
  });
});

test('Responses: a stream ends with the whole response and numbers its events', async () => {
  server = await startFakeOpenAiServer({ script: CALLS });
  const events = await streamEvents(await post('responses', { input: 'go', stream: true }));
  expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, index) => index));
  const text = events.filter((event) => event['type'] === 'response.output_text.delta');
  expect(text.map((event) => event['delta']).join('')).toBe('I look.');
  const args = events.filter(
    (event) => event['type'] === 'response.function_call_arguments.delta' && event['output_index'] === 2,
  );
  expect(args.map((event) => event['delta']).join('')).toBe('{"at":2}');
  expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { output: [{}, {}, {}] } });
  expect(events.filter((event) => event['type'] === 'response.output_item.done')).toHaveLength(3);
});

test('what is cut for its length says so in both forms, streaming as well', async () => {
  server = await startFakeOpenAiServer({ script: () => ({ text: 'and th', finish: 'length' }) });
  const chat = await (await post('chat/completions', {})).json();
  expect(chat).toMatchObject({ choices: [{ finish_reason: 'length' }] });
  const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  expect(await (await post('responses', {})).json()).toMatchObject(cut);
  const events = await streamEvents(await post('responses', { stream: true }));
  expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: cut });
});

test('a script may be a function of the request and its index', async () => {
  server = await startFakeOpenAiServer({
    script: (request, index) => ({ text: `${JSON.stringify(Reflect.get(Object(request), 'input'))} ${index}` }),
  });
  await post('responses', { input: 'first' });
  const second = await (await post('responses', { input: 'second' })).json();
  expect(second).toMatchObject({ output: [{ content: [{ text: '"second" 1' }] }] });
});

test('requests beyond the end of a script get a fixed response', async () => {
  server = await startFakeOpenAiServer({ script: { turns: [] } });
  const chat = await (await post('chat/completions', {})).json();
  expect(chat).toMatchObject({ choices: [{ message: { content: 'The script has ended.' } }] });
});

test('a truncated answer breaks the connection in the middle, streaming or not', async () => {
  server = await startFakeOpenAiServer({ script: () => ({ error: { isTruncated: true } }) });
  for (const body of [{}, { stream: true }]) {
    const response = await post('responses', body);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('terminated');
  }
});

test('an answer waits for as long as its turn says, also while others are answered, and the request is known before', async () => {
  const arrived: unknown[] = [];
  const mine = await startFakeOpenAiServer({
    script: {
      turns: [
        { text: 'never', answerAfterMs: 600_000 },
        { text: 'at last', answerAfterMs: 5 },
      ],
    },
    onRequest: ({ mainIndex }) => arrived.push(mainIndex),
  });
  server = mine;
  const order: string[] = [];
  const first = post('responses', {}).then(
    () => order.push('answered'),
    () => order.push('closed'),
  );
  await expect.poll(() => arrived).toEqual([0]);
  await post('responses', {}).then(() => order.push('second answered'));
  await mine.close();
  await first;
  expect([arrived, order]).toEqual([
    [0, 1],
    ['second answered', 'closed'],
  ]);
});

test('closing does not wait for answers that are delayed, nor for clients that keep their connection', async () => {
  const mine = await startFakeOpenAiServer({ script: () => ({ text: 'never' }), answerAfterMs: 600_000 });
  const response = fetch(`${mine.url}/v1/responses`, { method: 'POST', body: '{}' }).catch((error: unknown) => error);
  await expect.poll(() => mine.requests.length).toBe(1);
  await mine.close();
  expect(await response).toBeInstanceOf(Error);
  await expect(fetch(mine.url)).rejects.toThrow('fetch failed');
});

test('every request is kept as sent and as decoded, and what is no JSON is an empty object', async () => {
  server = await startFakeOpenAiServer({ script: { turns: [] } });
  const raw = '{ "model" : "gpt-x",  "n": 1e3 }';
  await fetch(`${server.url}/v1/responses?x=1`, { method: 'POST', headers: { 'x-mine': 'yes' }, body: raw });
  await fetch(`${server.url}/v1/responses`, { method: 'POST', body: '{' });
  expect(server.requests[0]).toMatchObject({ path: '/v1/responses', raw, body: { model: 'gpt-x', n: 1_000 } });
  expect(server.requests[0]?.headers['x-mine']).toBe('yes');
  expect(server.requests[1]).toMatchObject({ raw: '{', body: {} });
});

test('an answer from the future has unknown fields, and in Responses an item of an unknown type', async () => {
  server = await startFakeOpenAiServer({ script: () => ({ text: 'hello', fromTheFuture: true }) });
  const chat = await (await post('chat/completions', {})).json();
  expect(chat).toMatchObject({ future_field: {}, choices: [{ future_field: {}, message: { content: 'hello' } }] });
  const responses = await (await post('responses', {})).json();
  expect(responses).toMatchObject({ output: [{ type: 'future_item' }, { type: 'message', future_field: {} }] });
});

test('the list of models is there, and any other path is not found', async () => {
  server = await startFakeOpenAiServer({ script: { turns: [] } });
  expect((await fetch(`${server.url}/v1/models`)).status).toBe(200);
  expect((await fetch(`${server.url}/v1/embeddings`, { method: 'POST' })).status).toBe(404);
});
