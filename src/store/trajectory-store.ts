import type { Json } from '../base/json.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { RunSummary } from './run-summary.ts';

/** Maximum of records per `append`. */
export const MAX_BATCH_RECORDS = 500;

/** Maximum length of a run id in UTF-16 units. */
export const MAX_RUN_ID_CHARS = 1024;

/** Selects a page of runs. */
export interface RunQuery {
  /** 1 to 1,000; default 50. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly after?: string;
  /** Adds `bytes` to the page; default false. */
  readonly withBytes?: boolean;
}

/** A page of runs, the most recently started first, then by `runId` in code point order. */
export interface RunPage {
  readonly runs: readonly RunSummary[];
  /** The size of each of `runs`, if requested: about the decrease of `sizeOf` without the run. */
  readonly bytes?: readonly number[];
  /** `after` for the next page; absent on the last one. */
  readonly next?: string;
}

/** Selects records of a run. */
export interface ReadQuery {
  /** First `seq`; default 0. A gap record that begins before it is not returned. */
  readonly fromSeq?: number;
  /** Maximum of records, from 0; default all. */
  readonly limit?: number;
}

/** A run as `transact` found it. Valid only during the fold. */
export interface StoredRun {
  /** Undefined for a new run. */
  readonly summary: RunSummary | undefined;
  /** The `seq` of the next record. */
  readonly nextSeq: number;
  /** The snapshot that the last transaction saved; undefined without one, null if it is damaged. */
  readonly snapshot: Json | undefined;
  /** Last `seq` that the snapshot covers; -1 without one. */
  readonly snapshotSeq: number;
  /** Records stored after `snapshotSeq`, by any writer, in `seq` order. Read into memory on first use. */
  missed(): readonly TrajectoryRecord[];
}

/** The result of a fold. */
export interface RunChange<Result> {
  /** A batch as for `append`, of the same run; may be empty. */
  readonly records: readonly TrajectoryRecord[];
  /**
   * Replaces the saved snapshot, and covers everything stored of the run including `records`; absent keeps the saved one. A run
   * with only a snapshot is not listed.
   */
  readonly snapshot?: Json;
  readonly result: Result;
}

/** A search for records. */
export interface SearchQuery {
  /**
   * Words that a record's text must contain, all of them; `"quoted words"` must be adjacent, and so must the parts of a word with
   * marks inside, such as `src/a.ts`. There is no other syntax. At most 1,000 UTF-16 units.
   *
   * A record's text is every string value of its payload, without keys and `kind`. A word is a run of letters and digits, ignoring
   * case (NFKC, lower case) but not accents; in scripts without spaces each character is one. Only the first 64 characters of a word
   * count.
   */
  readonly text: string;
  readonly runId?: string;
  /** Stored payload kinds; default all. */
  readonly kinds?: readonly string[];
  /** 1 to 1,000; default 50. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly after?: string;
}

/** A found record. */
export interface SearchHit {
  readonly runId: string;
  readonly seq: number;
  readonly atMs: number;
  readonly kind: string;
  /** At most 200 UTF-16 units of the record's text around the first word of the query. */
  readonly snippet: string;
}

/** A page of hits: the latest `atMs` first, then by `runId` in code point order, then the highest `seq`. */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  readonly next?: string;
  /** Records not searched because a driver's background index does not contain them yet; 0 for other drivers. */
  readonly notIndexed: number;
  /** Damaged records that the index lists for these words; they are left out. Absent without any. */
  readonly damaged?: readonly { readonly runId: string; readonly seq?: number }[];
}

/** A problem found by `verify`. */
export interface StoreProblem {
  readonly runId?: string;
  readonly seq?: number;
  /** File and line, or table and row. */
  readonly place: string;
  readonly problem: string;
}

/** Accepts records in order: the part of a store that a recorder needs. */
export interface TrajectorySink {
  /**
   * Appends records in order: all of them or none.
   *
   * `run_id` may be any well-formed Unicode text (no lone surrogates) of at most `MAX_RUN_ID_CHARS`. Records that are already
   * stored with equal JSON are skipped, so a retry is safe.
   *
   * @param batch  one run, `seq` ascending without holes, 1 to `MAX_BATCH_RECORDS` records, each with `run_id`. A `gap` record
   *   fills `seq … through_seq`, so the next one has `through_seq + 1`. Lone surrogates inside records are kept.
   * @returns the last `seq` stored for that run
   * @throws CoxswainError `store-gap` if the batch begins after the next free `seq`
   * @throws CoxswainError `store-conflict` if another record is stored under one of the `seq`s
   * @throws CoxswainError `invalid-argument` for an empty, mixed, too long or unordered batch or a missing or ill-formed `run_id`
   * @throws CoxswainError `invalid-record` or `schema-version` for a record that could not be read back
   * @throws CoxswainError `store-io` for an I/O fault, `store-closed` after `close()`
   */
  append(batch: readonly TrajectoryRecord[]): Promise<number>;

  /** Resolves when everything appended before the call is durable, as far as the driver guarantees it. */
  flush(): Promise<void>;

  /** Flushes and releases files and connections. A second call does nothing. */
  close(): Promise<void>;
}

/** Stores runs, ordered and idempotent by `(run_id, seq)`. Every driver passes `test/support/store-contract.ts`. */
export interface TrajectoryStore extends TrajectorySink {
  /**
   * Returns one page of run summaries. Runs that are added between two pages neither repeat nor hide a run of a later page.
   *
   * @throws CoxswainError `invalid-argument` for a `limit` out of range or an invalid `after`
   * Cost: see the driver; independent of the number of stored records once the store is warm.
   */
  listRuns(query?: RunQuery): Promise<RunPage>;

  /** The summary of a run, or undefined for an unknown id. A damaged run or summary has a `problem`. */
  findRun(runId: string): Promise<RunSummary | undefined>;

  /**
   * Reads the records of a run in `seq` order, lazily: nothing is read before the first `next()`, and memory is bounded by about a
   * megabyte and the largest record. Yields nothing for an unknown run; may include records appended meanwhile. Unknown payload
   * kinds are returned unchanged.
   *
   * The iteration throws CoxswainError `invalid-argument` for a query out of range, `store-damaged` (with `runId` and `seq` in
   * `details`) at a damaged or missing record, `invalid-record` or `schema-version` for one that it cannot decode, `store-io`, and
   * `store-closed`.
   */
  readRun(runId: string, query?: ReadQuery): AsyncIterable<TrajectoryRecord>;

  /**
   * Reads a run's snapshot, folds, appends and saves the new snapshot atomically: no other writer of the run interferes, and after a
   * crash either all of it is stored or nothing. For short-lived processes that share a run.
   *
   * @param fold  pure and synchronous; may be called again after a conflict or an I/O fault. Only the result of the last call is
   *   stored and returned
   * @throws what `fold` throws (nothing is stored then), and as `append`
   * @throws CoxswainError `invalid-argument` also for records of another run or a snapshot that cannot be encoded as JSON
   */
  transact<Result>(runId: string, fold: (view: StoredRun) => RunChange<Result>): Promise<Result>;

  /**
   * Deletes a run: its records, summary, snapshot and index entries. Its children are kept. A later append to that id starts again
   * at seq 0.
   *
   * Calls for one run are executed in order. After a crash or power cut the run is either complete or gone; the next call, for any
   * run, frees remaining space. Once the call resolves, the run is gone for every process. A writer that continues the run gets
   * `store-gap`; a concurrent reader gets no more records, or `store-io`. A damaged run is deleted too.
   *
   * @returns true if anything of it was stored, also only a snapshot; false for an invalid id
   * @throws CoxswainError `store-io` for an I/O fault (nothing is deleted then), `store-closed`
   * Cost: see the driver; grows with the run. Other runs can be written meanwhile.
   */
  deleteRun(runId: string): Promise<boolean>;

  /**
   * The size of everything stored, in bytes. A deleted run no longer counts, even if the medium keeps its space. The driver defines
   * what is counted (`docs/stores.md`); `RunPage.bytes` counts the same for each run.
   *
   * @throws CoxswainError `store-io`, `store-closed`
   * Cost: see the driver; never reads records.
   */
  sizeOf(): Promise<number>;

  /**
   * Finds the records whose text contains the words, newest first. Records that are added between two pages neither repeat nor hide
   * one of a later page. Finds nothing for an unknown run or kind. A damaged record is left out; SQLite and PostgreSQL list it in
   * `damaged`.
   *
   * @throws CoxswainError `invalid-argument` for a query without words or out of range, or an invalid `after`
   */
  search(query: SearchQuery): Promise<SearchPage>;

  /**
   * Reads everything and yields the problems: holes in `seq`, torn or damaged records, wrong checksums. Changes nothing. The
   * iteration throws CoxswainError `store-io` and `store-closed`.
   */
  verify(): AsyncIterable<StoreProblem>;
}

/** The part of a store that only reads. */
export type StoreReader = Pick<TrajectoryStore, 'listRuns' | 'findRun' | 'readRun' | 'search' | 'close'>;

/** A store that is read repeatedly and never written. */
export interface LiveReader extends StoreReader, Pick<TrajectoryStore, 'sizeOf' | 'verify'> {
  /**
   * Ids of the runs that were written since the last call; undefined if anything may have changed, as at the first call. May include
   * unchanged runs. PostgreSQL does not report deleted runs.
   *
   * @throws CoxswainError `store-io` and `store-closed`
   * Cost: one PRAGMA in SQLite if nothing was written, nothing in PostgreSQL, the files of up to 564 runs in jsonl.
   */
  changes(): Promise<readonly string[] | undefined>;
  /** Every run once, unordered, if that is cheaper than paging. */
  listAll?(): AsyncIterable<RunSummary>;
}
