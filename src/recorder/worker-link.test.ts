import { expect, test } from 'vitest';
import { WorkerLink } from './worker-link.ts';

/** A thread that throws at `flush`, never responds to `sizeOf`, and responds to any other method with its name. */
const program = `
import { parentPort } from 'node:worker_threads';
parentPort.on('message', ({ id, method }) => {
  if (method === 'flush') throw new Error('the thread broke');
  if (method !== 'sizeOf') parentPort.postMessage({ id, value: method });
});`;

test('a thread that stops fails the pending calls and is restarted, at most five times a minute', async () => {
  const link = new WorkerLink({ path: 'unused' }, new URL(`data:text/javascript,${encodeURIComponent(program)}`));
  expect(link.threadId).toBeUndefined();
  for (let round = 0; round < 5; round += 1) {
    expect(await link.call('findRun', 'a')).toBe('findRun');
    for (const result of await Promise.allSettled([link.call('sizeOf'), link.call('flush')])) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'store-io', message: /the thread broke/ } });
    }
  }
  const refused = { code: 'store-io', message: /started 5 times within 60 sec/ };
  await expect(link.call('findRun', 'a')).rejects.toMatchObject(refused);
  await link.end();
});
