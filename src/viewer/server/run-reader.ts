import type { RunSummary } from '../../store/run-summary.ts';
import type { StoreReader } from '../../store/trajectory-store.ts';

/** Where the viewer reads runs from: a store that it only reads, or files that were read into one. */
export interface RunReader extends StoreReader {
  /**
   * Ids of the runs that were written to since the last call; undefined when anything may have changed, and where that cannot be
   * told.
   */
  changes(): Promise<readonly string[] | undefined>;
  /** Every run in one pass, where the store has a cheaper way than page by page. */
  listAll?(): AsyncIterable<RunSummary>;
  /** How far reading files has come; undefined when all is read, and for stores. */
  indexing?(): { readonly files: number; readonly done: number } | undefined;
  /** What could not be read, in one line; the rest is there. */
  trouble?(): string | undefined;
}
