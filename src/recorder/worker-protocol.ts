import { CoxswainError, messageOf, type CoxswainErrorCode } from '../base/error.ts';
import type { CheckedBatch } from '../store/check-batch.ts';
import type { RunSummary } from '../store/run-summary.ts';
import type { SqliteStoreOptions } from '../store/sqlite/sqlite-store.ts';
import type { ReadQuery, TrajectoryStore } from '../store/trajectory-store.ts';

/** The SQLite store that a worker thread opens. */
export interface WorkerStoreTarget {
  readonly path: string;
  readonly options?: SqliteStoreOptions;
}

/** The methods that the worker offers. Records and problems are sent as JSON text. */
export interface WorkerMethods extends Pick<
  TrajectoryStore,
  'flush' | 'close' | 'listRuns' | 'findRun' | 'deleteRun' | 'sizeOf' | 'search'
> {
  append(batch: WorkerBatch): Promise<number>;
  /** Returns the next items of a cursor. The first call opens the cursor. */
  read(cursor: number, runId: string, query: ReadQuery | undefined): Promise<WorkerPage>;
  verify(cursor: number): Promise<WorkerPage>;
  closeCursor(cursor: number): Promise<void>;
  view(runId: string, withMissed: boolean): Promise<WorkerView>;
  /** @returns false if the run has changed since the token was created; nothing is then stored */
  commit(runId: string, token: string, change: WorkerChange): Promise<boolean>;
}

/** A checked batch without the decoded records. */
export interface WorkerBatch extends Omit<CheckedBatch, 'records'> {
  readonly records: readonly { readonly seq: number; readonly json: string }[];
}

/** A change of `transact` as JSON text. */
export interface WorkerChange {
  readonly lines: readonly string[];
  readonly snapshot: string | undefined;
}

/** Items as JSON text. If there is an error, it occurred after these items. */
export interface WorkerPage {
  readonly lines: readonly string[];
  readonly isLast: boolean;
  readonly error?: WorkerError;
}

/** A run as `transact` finds it. */
export interface WorkerView {
  readonly summary: RunSummary | undefined;
  readonly nextSeq: number;
  readonly snapshot: string | undefined;
  readonly snapshotSeq: number;
  readonly missed: readonly string[] | undefined;
  /** A text that changes whenever the run changes. */
  readonly token: string;
}

/** A `CoxswainError` in the form that is sent between threads. */
export interface WorkerError {
  readonly code: CoxswainErrorCode;
  readonly message: string;
  readonly details: string;
  readonly cause: string | undefined;
}

export interface WorkerRequest {
  readonly id: number;
  readonly method: keyof WorkerMethods;
  readonly args: readonly unknown[];
}

export type WorkerResponse =
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
