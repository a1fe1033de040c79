import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { StoreReader } from '../../core/store/trajectory-store.ts';

/** A read-only store, or a temporary store with imported files. */
export interface RunReader extends StoreReader {
  /** Returns the ids of the runs that changed since the last call, or undefined if they are unknown. */
  changes(): Promise<readonly string[] | undefined>;
  /** Returns the runs of which records were replaced since the last call. */
  takeReplaced?(): ReadonlySet<string>;
  /** Yields all runs in one pass. Present if the store has a cheaper way than reading page by page. */
  listAll?(): AsyncIterable<RunSummary>;
  /** Returns the progress of reading files. Undefined when reading is finished, and for stores. */
  indexing?(): { readonly files: number; readonly done: number } | undefined;
  /** Returns the folder in which a run worked, if its file names it. */
  projectOf?(runId: string): string | undefined;
  /** Returns one line about the files that could not be read. */
  trouble?(): string | undefined;
}
