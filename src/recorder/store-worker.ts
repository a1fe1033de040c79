/** What runs in the thread of a worker store: opens the store and does what it is asked, in the order of the asking. */
import { parentPort, workerData } from 'node:worker_threads';
import { assertNever } from '../base/assert-never.ts';
import { parseRecord } from '../records/decode-record.ts';
import { encodeRecord } from '../records/encode-record.ts';
import { appendChecked } from '../store/checked-sink.ts';
import type { StoredRun, TrajectoryStore } from '../store/trajectory-store.ts';
import { fromSentBatch, type SentBatch } from './sent-batch.ts';
import {
  toWorkerError,
  type WorkerAnswer,
  type WorkerAppended,
  type WorkerPage,
  type WorkerRequest,
  type WorkerStoreTarget,
  type WorkerView,
} from './worker-protocol.ts';

/** Characters after which a page ends: small enough that parsing it does not hold up the other thread. */
const CHARS_A_PAGE = 256 * 1024;

// `WorkerLink` starts this file and gives it nothing else.
const target = workerData as WorkerStoreTarget;
const open = await opener(target);
const cursors = new Map<number, AsyncIterator<string>>();
/** Requests that are not answered yet. */
const underWay = new Set<Promise<void>>();
let opened: TrajectoryStore | undefined;

/** Opened at the first use, and tried again at the next when it fails. */
function store(): TrajectoryStore {
  opened ??= open();
  return opened;
}

async function opener(of: WorkerStoreTarget): Promise<() => TrajectoryStore> {
  const { sqliteStore } = await import('../store/sqlite/sqlite-store.ts');
  return () => sqliteStore(of.path, of.options);
}

function answer(request: WorkerRequest): Promise<unknown> {
  switch (request.method) {
    case 'append':
      return append(request.batch);
    case 'flush':
      return store().flush();
    case 'close':
      return opened?.close() ?? Promise.resolve();
    case 'listRuns':
      return store().listRuns(request.query);
    case 'findRun':
      return store().findRun(request.runId);
    case 'deleteRun':
      return store().deleteRun(request.runId);
    case 'sizeOf':
      return store().sizeOf();
    case 'search':
      return store().search(request.query);
    case 'read':
      return page(request.cursor, () => encoded(store().readRun(request.runId, request.query), encodeRecord));
    case 'verify':
      return page(request.cursor, () => encoded(store().verify(), (problem) => JSON.stringify(problem)));
    case 'leave':
      return leave(request.cursor);
    case 'view':
      return view(request.runId, request.withMissed);
    case 'commit':
      return commit(request);
    default:
      return assertNever(request);
  }
}

async function append(batch: SentBatch): Promise<WorkerAppended> {
  return { lastSeq: await appendChecked(store(), fromSentBatch(batch)), bytes: batch.bytes };
}

async function* encoded<T>(items: AsyncIterable<T>, encode: (item: T) => string): AsyncGenerator<string, void, void> {
  for await (const item of items) yield encode(item);
}

async function page(cursor: number, begin: () => AsyncIterator<string>): Promise<WorkerPage> {
  const iterator = cursors.get(cursor) ?? begin();
  cursors.set(cursor, iterator);
  const lines: string[] = [];
  let chars = 0;
  try {
    while (chars < CHARS_A_PAGE) {
      const next = await iterator.next();
      if (next.done === true) {
        cursors.delete(cursor);
        return { lines, isLast: true };
      }
      lines.push(next.value);
      chars += next.value.length;
    }
    return { lines, isLast: false };
  } catch (error) {
    cursors.delete(cursor);
    return { lines, isLast: true, error: toWorkerError(error) };
  }
}

async function leave(cursor: number): Promise<void> {
  const iterator = cursors.get(cursor);
  cursors.delete(cursor);
  await iterator?.return?.();
}

function view(runId: string, withMissed: boolean): Promise<WorkerView> {
  return store().transact(runId, (seen) => ({
    records: [],
    result: {
      summary: seen.summary,
      nextSeq: seen.nextSeq,
      snapshot: seen.snapshot === undefined ? undefined : JSON.stringify(seen.snapshot),
      snapshotSeq: seen.snapshotSeq,
      missed: withMissed ? seen.missed().map(encodeRecord) : undefined,
      token: tokenOf(seen),
    },
  }));
}

/** @returns false, with nothing stored, when the run has changed since the token was given */
function commit(change: Extract<WorkerRequest, { readonly method: 'commit' }>): Promise<boolean> {
  const records = change.lines.map(parseRecord);
  const { snapshot } = change;
  return store().transact(change.runId, (seen) => {
    if (tokenOf(seen) !== change.token) return { records: [], result: false };
    // The other thread made sure that it is JSON.
    return { records, ...(snapshot === undefined ? {} : { snapshot: JSON.parse(snapshot) as never }), result: true };
  });
}

function tokenOf(seen: StoredRun): string {
  return JSON.stringify([seen.nextSeq, seen.snapshotSeq, seen.snapshot ?? null, seen.snapshot === undefined]);
}

/** @param before  what was asked before and is not answered yet */
async function handle(id: number, request: WorkerRequest, before: readonly Promise<void>[]): Promise<void> {
  try {
    // Called before anything is awaited, so that appends reach the store in order.
    const value = await answer(request);
    // The thread ends when it has answered this.
    if (request.method === 'close') await Promise.all(before);
    send({ id, value }, request.method === 'append' ? [request.batch.bytes] : []);
  } catch (error) {
    send({ id, error: toWorkerError(error) });
  } finally {
    // Nothing more is heard, so the thread ends by itself.
    if (request.method === 'close') parentPort?.close();
  }
}

function send(message: WorkerAnswer, handedOver: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, handedOver);
}

// `WorkerLink` sends nothing else.
parentPort?.on('message', ({ id, request }: { readonly id: number; readonly request: WorkerRequest }) => {
  const done = handle(id, request, [...underWay]).finally(() => underWay.delete(done));
  underWay.add(done);
});
