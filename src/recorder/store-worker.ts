/** The program of a worker store's thread: opens the store and runs the methods that are called, in order. */
import { parentPort, workerData } from 'node:worker_threads';
import { parseRecord } from '../records/decode-record.ts';
import { encodeRecord } from '../records/encode-record.ts';
import { appendChecked } from '../store/checked-sink.ts';
import type { StoredRun, TrajectoryStore } from '../store/trajectory-store.ts';
import {
  toWorkerError,
  type WorkerMethods,
  type WorkerPage,
  type WorkerRequest,
  type WorkerResponse,
  type WorkerStoreTarget,
} from './worker-protocol.ts';

/** Number of characters per page. It is small enough that parsing a page does not block the other thread. */
const CHARS_A_PAGE = 256 * 1024;

// `WorkerLink` starts this file with such an object.
const target = workerData as WorkerStoreTarget;
const { sqliteStore } = await import('../store/sqlite/sqlite-store.ts');
const cursors = new Map<number, AsyncIterator<string>>();
const pending = new Set<Promise<void>>();
let openedStore: TrajectoryStore | undefined;

/** Opens the store on first use. After a failure, the next use tries again and throws again. */
function store(): TrajectoryStore {
  openedStore ??= sqliteStore(target.path, target.options);
  return openedStore;
}

const methods: WorkerMethods = {
  append: ({ records, ...batch }) => {
    const decoded = records.map(({ seq, json }) => ({ seq, json, record: parseRecord(json) }));
    return appendChecked(store(), { ...batch, records: decoded });
  },
  flush: () => store().flush(),
  close: async () => await openedStore?.close(),
  listRuns: (query) => store().listRuns(query),
  findRun: (runId) => store().findRun(runId),
  deleteRun: (runId) => store().deleteRun(runId),
  sizeOf: () => store().sizeOf(),
  search: (query) => store().search(query),
  read: (cursor, runId, query) => nextPage(cursor, () => encodeAll(store().readRun(runId, query), encodeRecord)),
  verify: (cursor) => nextPage(cursor, () => encodeAll(store().verify(), (problem) => JSON.stringify(problem))),
  closeCursor: async (cursor) => {
    const iterator = cursors.get(cursor);
    cursors.delete(cursor);
    await iterator?.return?.();
  },
  view: (runId, withMissed) =>
    store().transact(runId, (run) => ({
      records: [],
      result: {
        summary: run.summary,
        nextSeq: run.nextSeq,
        snapshot: run.snapshot === undefined ? undefined : JSON.stringify(run.snapshot),
        snapshotSeq: run.snapshotSeq,
        missed: withMissed ? run.missed().map(encodeRecord) : undefined,
        token: tokenOf(run),
      },
    })),
  commit: (runId, token, { lines, snapshot }) => {
    const records = lines.map(parseRecord);
    return store().transact(runId, (run) => {
      if (tokenOf(run) !== token) return { records: [], result: false };
      // The other thread encoded it as JSON.
      return { records, ...(snapshot === undefined ? {} : { snapshot: JSON.parse(snapshot) as never }), result: true };
    });
  },
};

async function* encodeAll<T>(items: AsyncIterable<T>, encode: (item: T) => string): AsyncGenerator<string, void, void> {
  for await (const item of items) yield encode(item);
}

async function nextPage(cursor: number, openCursor: () => AsyncIterator<string>): Promise<WorkerPage> {
  const iterator = cursors.get(cursor) ?? openCursor();
  cursors.set(cursor, iterator);
  const lines: string[] = [];
  let charCount = 0;
  try {
    while (charCount < CHARS_A_PAGE) {
      const next = await iterator.next();
      if (next.done === true) {
        cursors.delete(cursor);
        return { lines, isLast: true };
      }
      lines.push(next.value);
      charCount += next.value.length;
    }
    return { lines, isLast: false };
  } catch (error) {
    cursors.delete(cursor);
    return { lines, isLast: true, error: toWorkerError(error) };
  }
}

function tokenOf(run: StoredRun): string {
  return JSON.stringify([run.nextSeq, run.snapshotSeq, run.snapshot ?? null, run.snapshot === undefined]);
}

async function respond({ id, method, args }: WorkerRequest, earlier: readonly Promise<void>[]): Promise<void> {
  // `WorkerLink` sends the arguments of that method.
  const callMethod = methods[method] as (...args: readonly unknown[]) => Promise<unknown>;
  let response: WorkerResponse;
  try {
    // The method is called before anything is awaited, so that appends reach the store in order.
    const value = await callMethod(...args);
    // The thread exits after this response.
    if (method === 'close') await Promise.all(earlier);
    response = { id, value };
  } catch (error) {
    response = { id, error: toWorkerError(error) };
  }
  parentPort?.postMessage(response, []);
  if (method === 'close') parentPort?.close();
}

parentPort?.on('message', (request: WorkerRequest) => {
  const response = respond(request, [...pending]).finally(() => pending.delete(response));
  pending.add(response);
});
