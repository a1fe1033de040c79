import { parentPort, workerData } from 'node:worker_threads';

import { RunIds } from '../../formats/run-ids.ts';
import type { SourceProblem } from './problems.ts';
import { runsOfSource } from './runs-from.ts';
import type { SessionAnswer, SessionRequest, ThreadQuery } from './session-threads.ts';

// Only `SessionThreads` runs this file. It passes the query as `workerData`.
const query = workerData as ThreadQuery;

class NotedIds extends RunIds {
  readonly taken: { readonly wanted: string; readonly id: string }[] = [];
  readonly asked: string[] = [];

  override take(wanted: string): string {
    const id = super.take(wanted);
    this.taken.push({ wanted, id });
    return id;
  }

  override latest(wanted: string): string {
    this.asked.push(wanted);
    return super.latest(wanted);
  }
}

parentPort?.on('message', (request: SessionRequest) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  void answerOf(request).then((answer) => parentPort?.postMessage(answer));
});

async function answerOf({ format, path }: SessionRequest): Promise<SessionAnswer | undefined> {
  const ids = new NotedIds();
  const events: SessionAnswer['events'][number][] = [];
  const problems = {
    fault: (problem: SourceProblem): void => void events.push({ type: 'fault', problem }),
    note: (problem: SourceProblem): void => void events.push({ type: 'note', problem }),
    failure: (error: unknown): void => {
      throw error;
    },
  };
  try {
    const onLeftOut = (): void => void events.push({ type: 'left out' });
    const runs = runsOfSource(path, ids, { ...query, problems, onLeftOut }, format);
    for await (const run of runs) events.push({ type: 'run', run });
    return { events, taken: ids.taken, asked: ids.asked };
  } catch {
    return undefined;
  }
}
