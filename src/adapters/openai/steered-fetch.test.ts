import { expect, test } from 'vitest';
import { Conversation } from '../host/conversation.ts';
import { guarded } from '../host/guarded.ts';
import { recordedRun, type RecordedRun } from '../../../test/support/recorded-run.ts';
import { steeredFetch, type Fetch, type SteeredFetchParts } from '../host/steered-fetch.ts';
import { openaiApi } from './to-events.ts';

const URL_OF_CHAT = 'https://api.test/v1/chat/completions';
const POST = { method: 'POST', body: '{"messages":[]}' };
const COMPLETION = { model: 'm', choices: [{ message: { content: 'Done.' }, finish_reason: 'stop' }] };

/** A fetch that answers one thing and keeps what it was requests. */
function server(answer: () => Response | Promise<Response>): { readonly fetch: Fetch; readonly requests: unknown[][] } {
  const requests: unknown[][] = [];
  return {
    requests,
    fetch: async (...response) => {
      requests.push(response);
      return await answer();
    },
  };
}

function begin(
  prepare?: SteeredFetchParts['prepare'],
  onError?: 'throw',
): RecordedRun & { readonly parts: SteeredFetchParts } {
  const recorded = recordedRun();
  const conversation = new Conversation(recorded.run);
  const plain: SteeredFetchParts['prepare'] = (body) => {
    const outgoing = conversation.request(body, { messages: [], results: [] });
    return { conversation, outgoing, edited: undefined, channel: '' };
  };
  const guard = guarded(recorded.run, onError === undefined ? {} : { onError });
  return { ...recorded, parts: { api: openaiApi, guard, prepare: prepare ?? plain } };
}

test('an answer is told before the client has it', async () => {
  const { parts, recorded } = begin();
  const { fetch } = server(() => Response.json(COMPLETION));
  const response = await steeredFetch(fetch, parts)(URL_OF_CHAT, POST);
  expect(await recorded('message_appended')).toEqual([]);
  expect(await response.json()).toEqual(COMPLETION);
  expect(await recorded('message_appended')).toMatchObject([{ message: { content: 'Done.', stop_reason: 'stop' } }]);
});

test.each([
  ['another address', 'https://api.test/v1/embeddings', POST],
  ['a response that is cancelled', 'https://api.test/v1/responses/r_1/cancel', POST],
  ['a list', 'https://api.test/v1/responses', { method: 'GET' }],
  ['a body that is no text', URL_OF_CHAT, { method: 'POST', body: new Uint8Array([1]) }],
])('%s passes untouched', async (_what, url, init) => {
  const { parts } = begin(() => {
    throw new Error('must not be requests');
  });
  const response = Response.json({});
  const { fetch, requests } = server(() => response);
  expect(await steeredFetch(fetch, parts)(url, init)).toBe(response);
  expect(requests).toEqual([[url, init]]);
});

test('addresses with a query, as URL or Request, are recognised', async () => {
  const { parts, recorded } = begin();
  const { fetch } = server(() => Response.json(COMPLETION));
  await (await steeredFetch(fetch, parts)(`${URL_OF_CHAT}?api-version=1`, POST)).text();
  await (await steeredFetch(fetch, parts)(new URL('https://api.test/v1/responses'), POST)).text();
  await (await steeredFetch(fetch, parts)(new Request(URL_OF_CHAT), POST)).text();
  expect((await recorded('turn_started')).length).toBe(3);
});

test('a fault in preparing leaves the request as it was, and is recorded', async () => {
  const broken = (): never => {
    throw new Error('broken');
  };
  const { parts, faults, recorded } = begin(broken);
  const { fetch, requests } = server(() => Response.json(COMPLETION));
  expect(await (await steeredFetch(fetch, parts)(URL_OF_CHAT, POST)).json()).toEqual(COMPLETION);
  expect(requests).toEqual([[URL_OF_CHAT, POST]]);
  expect(faults()).toBe(1);
  expect(await recorded('fault_noticed')).toMatchObject([{ where: 'openai request', message: 'broken' }]);
  const loud = begin(broken, 'throw');
  await expect(steeredFetch(fetch, loud.parts)(URL_OF_CHAT, POST)).rejects.toThrow('broken');
});

test.each([
  ['no JSON at all', '<html>'],
  ['JSON of another shape', '{"ok":true}'],
])('an answer that is %s reaches the client, and is an unrecognised event', async (_what, text) => {
  const { parts, recorded } = begin();
  const { fetch } = server(() => new Response(text));
  expect(await (await steeredFetch(fetch, parts)(URL_OF_CHAT, POST)).text()).toBe(text);
  expect(await recorded('unrecognised')).toMatchObject([{ original: { kind: 'openai/answer' } }]);
  expect(await recorded('turn_started')).toEqual([]);
});

test('a response in the background is no answer yet, and no unknown shape', async () => {
  const { parts, recorded } = begin();
  const { fetch } = server(() => Response.json({ status: 'queued', output: [] }));
  await (await steeredFetch(fetch, parts)('https://api.test/v1/responses', POST)).text();
  expect([await recorded('turn_started'), await recorded('unrecognised')]).toEqual([[], []]);
});

test('an answer of the server that is an error passes as it is, and the run ends with it', async () => {
  const { parts, run, recorded } = begin();
  const response = new Response('{}', { status: 503 });
  const { fetch } = server(() => response);
  expect(await steeredFetch(fetch, parts)(URL_OF_CHAT, POST)).toBe(response);
  await run.end();
  expect(await recorded('run_ended')).toMatchObject([{ outcome: 'error' }]);
});

test('what the fetch throws is thrown on, and an abort is told apart', async () => {
  const { parts, run, recorded } = begin();
  const error = new DOMException('stop', 'AbortError');
  const { fetch } = server(() => Promise.reject(error));
  await expect(steeredFetch(fetch, parts)(URL_OF_CHAT, POST)).rejects.toBe(error);
  await run.end();
  expect(await recorded('run_ended')).toMatchObject([{ outcome: 'aborted' }]);
});

test('a stream that breaks leaves what came of it as a message with the error', async () => {
  const { parts, recorded } = begin();
  const head = new TextEncoder().encode('data: {"model":"m","choices":[{"delta":{"content":"I lo"}}]}\n\n');
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield head;
    await Promise.resolve();
    throw new Error('the line is dead');
  }
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
  const { fetch } = server(() => new Response(ReadableStream.from(broken()), { headers }));
  const response = await steeredFetch(fetch, parts)(URL_OF_CHAT, POST);
  await expect(response.text()).rejects.toThrow('the line is dead');
  expect(await recorded('message_appended')).toMatchObject([
    { message: { role: 'assistant', content: 'I lo', error_message: 'the line is dead' } },
  ]);
  expect(await recorded('turn_started')).toEqual([]);
});

const CALLING = {
  model: 'm',
  choices: [{ message: { tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }] } }],
};

test.each([
  ['between two requests', CALLING, 'aborted'],
  ['after the final answer', COMPLETION, 'ended'],
])('a run that is aborted %s', async (_when, answer, outcome) => {
  const { parts, recorded, run } = begin();
  const { fetch } = server(() => Response.json(answer));
  const controller = new AbortController();
  await (await steeredFetch(fetch, parts)(URL_OF_CHAT, { ...POST, signal: controller.signal })).json();
  controller.abort();
  await run.end();
  expect(await recorded('run_ended')).toMatchObject([{ outcome }]);
});
