import { expect, test } from 'vitest';
import { checkBatch } from '../store/check-batch.ts';
import { scriptCalls } from '../testing/record-script.ts';
import { BatchSender } from './sent-batch.ts';
import { WorkerLink } from './worker-link.ts';
import type { WorkerRequest } from './worker-protocol.ts';

/** A thread that throws at `flush` and answers with the method, to an append with how many it has at the time. */
const program = `
import { parentPort } from 'node:worker_threads';
let appends = 0;
parentPort.on('message', ({ id, request }) => {
  if (request.method === 'flush') throw new Error('the thread broke');
  if (request.method !== 'append') return parentPort.postMessage({ id, value: request.method });
  appends += 1;
  setTimeout(() => parentPort.postMessage({ id, value: appends-- }), 100);
});`;
const entry = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
const target = { path: 'unused' };
const find = { method: 'findRun', runId: 'a' } as const;
/** Its bytes are handed over, so each is used once. */
const large = (): WorkerRequest => ({
  method: 'append',
  batch: new BatchSender().send(checkBatch(scriptCalls('a', 1))),
});

test('a thread that stops fails what is awaited, starts again, and not more than five times a minute', async () => {
  const link = new WorkerLink(target, entry);
  expect(link.threadId).toBeUndefined();
  for (let round = 0; round < 5; round += 1) {
    expect(await link.ask(find)).toBe('findRun');
    const asked = [link.ask(large()), link.ask({ method: 'flush' })];
    for (const answer of await Promise.allSettled(asked)) {
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'store-io', message: /the thread broke/ } });
    }
  }
  await expect(link.ask(find)).rejects.toMatchObject({ code: 'store-io', message: /started 5 times within 60 sec/ });
  await link.end({ method: 'close' });
});

test('what is more than 32 MiB on its way waits its turn, in order', async () => {
  const link = new WorkerLink(target, entry);
  const order: number[] = [];
  const half = 20 * 1024 * 1024;
  const asked = [half, half, 0].map(async (chars, index) => {
    const together = await link.ask(large(), chars);
    order.push(index);
    return together;
  });
  // The first was alone in the thread; the third fits beside the second.
  expect(await Promise.all(asked)).toEqual([1, 2, 1]);
  expect(order).toEqual([0, 1, 2]);
  await link.end({ method: 'close' });
});
