import { setImmediate as nextTurn } from 'node:timers/promises';

import { expect, test } from 'vitest';
import { watchedResponse } from './steered-fetch.ts';

function body(...parts: readonly string[]): ReadableStream<Uint8Array> {
  const bytes = parts.map((part) => new TextEncoder().encode(part));
  return ReadableStream.from(bytes);
}

function watch(response: Response): { readonly copy: Response; readonly log: string[] } {
  const log: string[] = [];
  const copy = watchedResponse(response, {
    take: (text) => log.push(`take ${text}`),
    end: () => log.push('end'),
    broken: (error) => log.push(`broken ${String(error)}`),
  });
  return { copy, log };
}

test('the reader gets the same bytes, and the end is told before the reader knows it', async () => {
  const { copy, log } = watch(new Response(body('a', 'b'), { status: 201, headers: { 'x-request-id': 'r' } }));
  expect(log).toEqual([]);
  expect(await copy.text().then((text) => [...log, text])).toEqual(['take a', 'take b', 'end', 'ab']);
  expect([copy.status, copy.headers.get('x-request-id')]).toEqual([201, 'r']);
});

test('nothing is read before the reader asks', async () => {
  let pulls = 0;
  const source = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulls += 1;
        controller.enqueue(new Uint8Array([97]));
      },
    },
    { highWaterMark: 0 },
  );
  const { copy } = watch(new Response(source));
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(pulls).toBe(0);
  await copy.body?.getReader().read();
  expect(pulls).toBe(1);
});

test('a letter whose bytes come apart is told whole', async () => {
  const bytes = new TextEncoder().encode('é');
  const { copy, log } = watch(new Response(ReadableStream.from([bytes.slice(0, 1), bytes.slice(1)])));
  expect(await copy.text()).toBe('é');
  expect(log.join('')).toContain('é');
});

test('a body that breaks, breaks for the reader with the same error', async () => {
  const error = new Error('the line is dead');
  const source = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(error) });
  const { copy, log } = watch(new Response(source));
  await expect(copy.text()).rejects.toBe(error);
  expect(log).toEqual(['broken Error: the line is dead']);
});

test('a reader that gives up frees the source, and is told apart from an error', async () => {
  let reason: unknown;
  const source = new ReadableStream<Uint8Array>({
    cancel(given) {
      reason = given;
    },
  });
  const { copy, log } = watch(new Response(source));
  await copy.body?.cancel('enough');
  expect([reason, log]).toEqual(['enough', ['broken undefined']]);
});

test('a response without a body stays as it is', () => {
  const empty = new Response(null, { status: 204 });
  expect(watch(empty).copy).toBe(empty);
});
