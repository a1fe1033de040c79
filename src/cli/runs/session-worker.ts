import { parentPort, workerData } from 'node:worker_threads';

import { answerOf } from './runs-from.ts';
import type { SessionRequest, ThreadQuery } from './session-threads.ts';

// Only `SessionThreads` runs this file. It passes the query as `workerData`.
const query = workerData as ThreadQuery;

parentPort?.on('message', (request: SessionRequest) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  void answerOf(request, query).then((answer) => parentPort?.postMessage(answer));
});
