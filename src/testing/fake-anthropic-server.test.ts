import { afterEach, expect, test } from 'vitest';

import { startFakeAnthropicServer } from './fake-anthropic-server.ts';
import type { FakeModelServer } from './model-script.ts';
import { streamEvents } from '../../test/support/stream-events.ts';

let server: FakeModelServer | undefined;

afterEach(async () => {
  await server?.close();
});

const TOOLS = [{ name: 'look', input_schema: { type: 'object' } }];

async function post(body: object, path = '/v1/messages'): Promise<Response> {
  return await fetch(`${server?.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'claude-x', messages: [{ role: 'user', content: 'go' }], ...body }),
  });
}

test('a turn with text and two calls is a message with three blocks, and ids come from the place in the script', async () => {
  server = await startFakeAnthropicServer({
    script: {
      turns: [
        {
          text: 'I look.',
          calls: [
            { name: 'look', args: { at: 1 } },
            { id: 'mine', name: 'look', args: {} },
          ],
          usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 5 },
        },
      ],
    },
  });
  expect(await (await post({ tools: TOOLS })).json()).toMatchObject({
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'call_1_1', name: 'look', input: { at: 1 } },
      { type: 'tool_use', id: 'mine', name: 'look', input: {} },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 5 },
  });
});

test('a stream gives in parts what the plain answer gives whole', async () => {
  const script = { turns: [{ text: 'Grüße 👋 an alle', calls: [{ name: 'look', args: { at: 'ß👋' } }] }] };
  server = await startFakeAnthropicServer({ script });
  const events = await streamEvents(await post({ tools: TOOLS, stream: true }));
  expect(events.map((event) => event['type'])).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_delta',
    'content_block_delta',
    'content_block_stop',
    'content_block_start',
    'content_block_delta',
    'content_block_delta',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
  const deltas = events.flatMap((event) => (event['delta'] === undefined ? [] : [event['delta']]));
  expect(deltas.map((delta) => Reflect.get(Object(delta), 'text') ?? '').join('')).toBe('Grüße 👋 an alle');
  expect(deltas.map((delta) => Reflect.get(Object(delta), 'partial_json') ?? '').join('')).toBe('{"at":"ß👋"}');
  expect(events[0]).toMatchObject({ message: { content: [], stop_reason: null } });
  expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } });
});

test('side requests without tools neither use up the script nor count as main requests', async () => {
  server = await startFakeAnthropicServer({ script: { turns: [{ text: 'first' }, { text: 'second' }] } });
  await post({ tools: TOOLS });
  expect(await (await post({})).json()).toMatchObject({ content: [{ text: '{"title":"A title"}' }] });
  expect(await (await post({ tools: TOOLS })).json()).toMatchObject({ content: [{ text: 'second' }] });
  expect(server.mainRequests().map(({ mainIndex }) => mainIndex)).toEqual([0, 1]);
  expect(server.requests).toHaveLength(3);
});

test('tokens are counted and models are listed without a script', async () => {
  server = await startFakeAnthropicServer({ script: { turns: [] } });
  expect(await (await post({}, '/v1/messages/count_tokens?beta=true')).json()).toEqual({ input_tokens: 100 });
  expect((await fetch(`${server.url}/v1/models`)).status).toBe(200);
  expect((await fetch(`${server.url}/v1/nothing`)).status).toBe(404);
  expect((await fetch(server.url, { method: 'HEAD' })).status).toBe(200);
  expect(server.mainRequests()).toEqual([]);
});

test('what is cut for its length says so', async () => {
  server = await startFakeAnthropicServer({ script: { turns: [{ text: 'and th', finish: 'length' }] } });
  expect(await (await post({ tools: TOOLS })).json()).toMatchObject({ stop_reason: 'max_tokens' });
});

test('a fault has its status, the type that belongs to it, and tells clients not to try again', async () => {
  const script = {
    turns: [
      { error: {} },
      { error: { status: 529, mayRetry: true, message: 'busy' } },
      { error: { status: 400 } },
      { text: 'well' },
    ],
  };
  server = await startFakeAnthropicServer({ script });
  const first = await post({ tools: TOOLS });
  expect([first.status, first.headers.get('x-should-retry')]).toEqual([500, 'false']);
  expect(await first.json()).toMatchObject({ type: 'error', error: { type: 'api_error' } });
  const second = await post({ tools: TOOLS });
  expect([second.status, second.headers.get('x-should-retry')]).toEqual([529, 'true']);
  expect(await second.json()).toMatchObject({ error: { type: 'overloaded_error', message: 'busy' } });
  expect(await (await post({ tools: TOOLS })).json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  expect((await post({ tools: TOOLS })).status).toBe(200);
});

test('an answer from the future has an unknown field in every object and an unknown block', async () => {
  server = await startFakeAnthropicServer({ script: { turns: [{ text: 'hello', fromTheFuture: true }] } });
  expect(await (await post({ tools: TOOLS })).json()).toMatchObject({
    future_field: {},
    content: [{ type: 'future_block' }, { type: 'text', text: 'hello', future_field: {} }],
  });
});
