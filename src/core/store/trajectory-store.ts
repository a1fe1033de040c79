import type { Json } from '../base/json.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { RunSummary } from '../facts/run-summary.ts';

export const MAX_BATCH_RECORDS = 500;

/** Maximum length of a run id in UTF-16 units. */
export const MAX_RUN_ID_CHARS = 1024;

export interface RunQuery {
  /** Maximum number of runs, 1 to 1,000; default 50. */
  readonly limit?: number;
  /** The value of `next` from the previous page. */
  readonly after?: string;
  /** If true, the page includes `bytes`; default false. */
  readonly withBytes?: boolean;
}

/** A page of runs, the most recently started first, then by `runId` in code point order. */
export interface RunPage {
  readonly runs: readonly RunSummary[];
  /** The size of each run in `runs`, if requested. Without the run, `sizeOf` would be lower by about this size. */
  readonly bytes?: readonly number[];
  /** The value of `after` for the next page. Absent on the last page. */
  readonly next?: string;
}

export interface ReadQuery {
  /** First `seq`; default 0. A gap record that starts before it is not returned. */
  readonly fromSeq?: number;
  /** Maximum number of records, from 0; default: all. */
  readonly limit?: number;
}

/** The state of a run as `transact` read it. Valid only during the fold. */
export interface StoredRun {
  /** Undefined for a new run. */
  readonly summary: RunSummary | undefined;
  /** The `seq` of the next record. */
  readonly nextSeq: number;
  /** The snapshot that the last transaction saved. Undefined if there is no snapshot, null if it is damaged. */
  readonly snapshot: Json | undefined;
  /** The last `seq` that the snapshot covers; -1 if there is no snapshot. */
  readonly snapshotSeq: number;
  /** Records after `afterSeq` (default `snapshotSeq`, the same in each call of a fold), in order, read on first use. */
  missed(afterSeq?: number): readonly TrajectoryRecord[];
}

export interface RunChange<Result> {
  /** A batch as for `append`, from the same run. It may be empty. */
  readonly records: readonly TrajectoryRecord[];
  /** Replaces the saved snapshot, which is kept if absent. Must cover all records. A run with only a snapshot is not listed. */
  readonly snapshot?: Json;
  readonly result: Result;
}

export interface SearchQuery {
  /**
   * The text of a record must contain all of these words. `"Quoted words"` must be adjacent. The parts of a word with
   * punctuation inside, such as `src/a.ts`, must be adjacent too. There is no other syntax. At most 1,000 UTF-16 units.
   *
   * A record's text is every string value of its payload, without keys and `kind`. A word is a sequence of letters and
   * digits. Case is ignored (NFKC, lower case), accents are not. In scripts without spaces, each character is a word. Only
   * the first 64 characters of a word are compared.
   */
  readonly text: string;
  readonly runId?: string;
  /** Stored payload kinds to search; default: all. */
  readonly kinds?: readonly string[];
  /** Maximum number of results, 1 to 1,000; default 50. */
  readonly limit?: number;
  /** The value of `next` from the previous page. */
  readonly after?: string;
}

export interface SearchHit {
  readonly runId: string;
  readonly seq: number;
  readonly atMs: number;
  readonly kind: string;
  /** At most 200 UTF-16 units of the record's text around the first word of the query. */
  readonly snippet: string;
}

/** A page of results: the latest `atMs` first, then by `runId` in code point order, then the highest `seq`. */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  readonly next?: string;
  /** Records that a background index does not contain yet, so not searched. 0 without such an index. */
  readonly notIndexed: number;
  /** Damaged records that the index lists for these words. They are left out of the results. Absent if no listed record is damaged. */
  readonly damaged?: readonly { readonly runId: string; readonly seq?: number }[];
}

export interface StoreProblem {
  readonly runId?: string;
  readonly seq?: number;
  /** File and line, or table and row. */
  readonly place: string;
  readonly problem: string;
}

/** Accepts records in order. This is the part of a store that a recorder needs. */
export interface TrajectorySink {
  /**
   * Appends records in order. Either all records are stored or none.
   *
   * `run_id` may be any well-formed Unicode text (no lone surrogates) of at most `MAX_RUN_ID_CHARS`. Records that are
   * already stored with equal JSON are skipped, so a retry is safe.
   *
   * @param batch  one run, `seq` ascending without gaps, 1 to `MAX_BATCH_RECORDS` records, each with `run_id`. A `gap`
   *   record fills `seq … through_seq`, so the next one has `through_seq + 1`. Lone surrogates inside records are kept.
   * @returns the last `seq` stored for that run
   * @throws CoxswainError `store-gap` if the batch begins after the next free `seq`
   * @throws CoxswainError `store-conflict` if another record is stored under one of the `seq`s
   * @throws CoxswainError `invalid-argument` for an empty, mixed, too long or unordered batch or a missing or ill-formed
   *   `run_id`
   * @throws CoxswainError `invalid-record` or `schema-version` for a record that could not be read back
   * @throws CoxswainError `store-io` for an I/O fault, `store-closed` after `close()`
   */
  append(batch: readonly TrajectoryRecord[]): Promise<number>;

  /** Resolves when everything appended before the call is on disk, as far as the driver guarantees it. */
  flush(): Promise<void>;

  /** Flushes and releases files and connections. A second call does nothing. */
  close(): Promise<void>;
}

/** Records are ordered by `(run_id, seq)`; storing one again has no effect. The contract: `test/support/store-contract.ts`. */
export interface TrajectoryStore extends TrajectorySink {
  /**
   * Returns one page of run summaries. Runs that are added between two pages neither repeat nor hide a run of a later page.
   *
   * @throws CoxswainError `invalid-argument` for a `limit` out of range or an invalid `after`
   * Cost: see the driver; independent of the number of stored records once the store is warm.
   */
  listRuns(query?: RunQuery): Promise<RunPage>;

  /** Returns the summary of a run, or undefined for an unknown id. A damaged run or summary has a `problem`. */
  findRun(runId: string): Promise<RunSummary | undefined>;

  /**
   * Reads the records of a run in `seq` order. Reading starts at the first `next()`. Memory is bounded by about a megabyte
   * plus the largest record. An unknown run yields no records. Records appended meanwhile may be included. Unknown payload
   * kinds are returned unchanged.
   *
   * The iteration throws CoxswainError `invalid-argument` for a query out of range, `store-damaged` (with `runId` and `seq`
   * in `details`) at a damaged or missing record, `invalid-record` or `schema-version` for a record that it cannot decode,
   * `store-io`, and `store-closed`.
   */
  readRun(runId: string, query?: ReadQuery): AsyncIterable<TrajectoryRecord>;

  /**
   * Reads the snapshot of a run, calls the fold, appends its records and saves the new snapshot in one transaction. No
   * other writer of the run interferes. After a crash, either everything is stored or nothing. This method is for
   * short-lived processes that share a run.
   *
   * @param fold  pure and synchronous; may be called again after a conflict or an I/O fault. Only the result of the last
   *   call is stored and returned
   * @throws what `fold` throws (nothing is stored then), and as `append`
   * @throws CoxswainError `invalid-argument` also for records of another run or a snapshot that cannot be encoded as JSON
   */
  transact<Result>(runId: string, fold: (view: StoredRun) => RunChange<Result>): Promise<Result>;

  /**
   * Deletes a run: its records, summary, snapshot and index entries. Its children are kept. A later append to that id
   * starts again at seq 0.
   *
   * Calls for one run are executed in order. After a crash or power cut, the run is either complete or deleted. The next
   * call for any run frees the remaining space. Once the call resolves, the run no longer exists for any process. A writer
   * that continues the run gets `store-gap`; a concurrent reader gets no more records, or `store-io`. A damaged run is
   * deleted too.
   *
   * @returns true if anything of the run was stored, even if only a snapshot; false for an invalid id
   * @throws CoxswainError `store-io` for an I/O fault (nothing is deleted then), `store-closed` Cost: see the driver; grows
   *   with the run. Other runs can be written meanwhile.
   */
  deleteRun(runId: string): Promise<boolean>;

  /**
   * Returns the size of all stored data in bytes. A deleted run is no longer counted, even if the database still keeps its
   * space. The driver defines what is counted (`docs/stores.md`). `RunPage.bytes` uses the same definition for each run.
   *
   * @throws CoxswainError `store-io`, `store-closed`
   *
   * Cost: depends on the driver; never reads records.
   */
  sizeOf(): Promise<number>;

  /**
   * Finds the records whose text contains the words, newest first. Records that are added between two pages neither repeat
   * nor hide a record of a later page. For an unknown run or kind there are no results. A damaged record is left out;
   * SQLite and PostgreSQL list it in `damaged`.
   *
   * @throws CoxswainError `invalid-argument` for a query without words or out of range, or an invalid `after`
   */
  search(query: SearchQuery): Promise<SearchPage>;

  /** Yields gaps, damage and wrong checksums; changes nothing. Throws CoxswainError `store-io` and `store-closed`. */
  verify(): AsyncIterable<StoreProblem>;
}

/** The methods of a store that only read. */
export type StoreReader = Pick<TrajectoryStore, 'listRuns' | 'findRun' | 'readRun' | 'search' | 'close'>;

/** A store that is read repeatedly and never written. */
export interface LiveReader extends StoreReader, Pick<TrajectoryStore, 'sizeOf' | 'verify'> {
  /**
   * Returns the ids of the runs that were written since the last call. Returns undefined if any run may have changed, as at
   * the first call. The list may include unchanged runs. PostgreSQL does not report deleted runs.
   *
   * @throws CoxswainError `store-io` and `store-closed` Cost: one PRAGMA in SQLite if nothing was written, nothing in
   *   PostgreSQL, the files of up to 564 runs in jsonl.
   */
  changes(): Promise<readonly string[] | undefined>;
  /** Yields every run once, in any order. Present if that is cheaper than reading pages. */
  listAll?(): AsyncIterable<RunSummary>;
}
