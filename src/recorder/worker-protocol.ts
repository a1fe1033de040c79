import { CoxswainError, messageOf, type CoxswainErrorCode } from '../base/error.ts';
import type { RunSummary } from '../store/run-summary.ts';
import type { SqliteStoreOptions } from '../store/sqlite/sqlite-store.ts';
import type { ReadQuery, RunQuery, SearchQuery } from '../store/trajectory-store.ts';
import type { SentBatch } from './sent-batch.ts';

/** The SQLite store that a worker thread opens. */
export interface WorkerStoreTarget {
  readonly path: string;
  readonly options?: SqliteStoreOptions;
}

/** What is asked of the worker. Records travel as JSON: as bytes that are handed over, or as lines. */
export type WorkerRequest =
  | { readonly method: 'append'; readonly batch: SentBatch }
  | { readonly method: 'flush' | 'close' | 'sizeOf' }
  | { readonly method: 'listRuns'; readonly query: RunQuery | undefined }
  | { readonly method: 'findRun' | 'deleteRun'; readonly runId: string }
  | { readonly method: 'search'; readonly query: SearchQuery }
  /** Opens the cursor at its first use. */
  | { readonly method: 'read'; readonly cursor: number; readonly runId: string; readonly query: ReadQuery | undefined }
  | { readonly method: 'verify'; readonly cursor: number }
  | { readonly method: 'leave'; readonly cursor: number }
  | { readonly method: 'view'; readonly runId: string; readonly withMissed: boolean }
  | ({ readonly method: 'commit'; readonly runId: string; readonly token: string } & CommitText);

/** A change as text. */
export interface CommitText {
  readonly lines: readonly string[];
  readonly snapshot: string | undefined;
}

/** Answer to `append`: the last `seq` of the run, and the bytes of the batch, which are handed back. */
export interface WorkerAppended {
  readonly lastSeq: number;
  readonly bytes: ArrayBuffer;
}

/** Answer to `read` and `verify`: the next items as JSON. The error comes after them. */
export interface WorkerPage {
  readonly lines: readonly string[];
  readonly isLast: boolean;
  readonly error?: WorkerError;
}

/** Answer to `view`. */
export interface WorkerView {
  readonly summary: RunSummary | undefined;
  readonly nextSeq: number;
  readonly snapshot: string | undefined;
  readonly snapshotSeq: number;
  readonly missed: readonly string[] | undefined;
  /** Equal as long as nobody has changed the run. */
  readonly token: string;
}

/** A `CoxswainError` on its way between threads. */
export interface WorkerError {
  readonly code: CoxswainErrorCode;
  readonly message: string;
  readonly details: string;
  readonly cause: string | undefined;
}

/** What comes back for the request of that id. */
export type WorkerAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: WorkerError };

export function toWorkerError(thrown: unknown): WorkerError {
  const message = messageOf(thrown);
  if (!(thrown instanceof CoxswainError)) return { code: 'store-io', message, details: '{}', cause: undefined };
  const cause = thrown.cause === undefined ? undefined : messageOf(thrown.cause);
  return { code: thrown.code, message, details: JSON.stringify(thrown.details), cause };
}

export function fromWorkerError(error: WorkerError): CoxswainError {
  return new CoxswainError(error.code, error.message, {
    // `toWorkerError` wrote an object.
    details: JSON.parse(error.details) as Readonly<Record<string, unknown>>,
    ...(error.cause === undefined ? {} : { cause: new Error(error.cause) }),
  });
}
