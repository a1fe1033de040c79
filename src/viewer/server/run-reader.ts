import type { RunSummary } from '../../store/run-summary.ts';
import type { StoreReader } from '../../store/trajectory-store.ts';

/** A read-only store, or a temporary store of files. */
export interface RunReader extends StoreReader {
  /**
   * Ids of the runs that changed since the last call; undefined if unknown.
   */
  changes(): Promise<readonly string[] | undefined>;
  /** All runs in one pass, if the store has a cheaper way than paging. */
  listAll?(): AsyncIterable<RunSummary>;
  /** Progress of reading files; undefined at the end, and for stores. */
  indexing?(): { readonly files: number; readonly done: number } | undefined;
  /** The files that could not be read, in one line. */
  trouble?(): string | undefined;
}
