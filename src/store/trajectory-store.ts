import type { Json } from '../base/json.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import type { RunSummary } from './run-summary.ts';

/** Most records that one `append` takes. */
export const MAX_BATCH_RECORDS = 500;

/** Most UTF-16 units of a run id. */
export const MAX_RUN_ID_CHARS = 1024;

/** Where a page of runs begins and how many it holds. */
export interface RunQuery {
  /** 1 to 1,000; default 50. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly after?: string;
  /** Asks for `bytes` of the page; default false. */
  readonly withBytes?: boolean;
}

/** A page of runs, the one that started last first; runs that started together by `runId`, in code point order. */
export interface RunPage {
  readonly runs: readonly RunSummary[];
  /** What each of `runs` takes, in their order, where it was asked for: about what `sizeOf` falls by without the run. */
  readonly bytes?: readonly number[];
  /** Give it as `after` for the next page; absent on the last one. */
  readonly next?: string;
}

/** Which records of a run to read. */
export interface ReadQuery {
  /** First `seq` wanted; default 0. A gap record that began before it is not given. */
  readonly fromSeq?: number;
  /** Most records to give, from 0; default all. */
  readonly limit?: number;
}

/** A run as `transact` found it. Good only while the fold runs. */
export interface StoredRun {
  /** Undefined for a run that is not stored yet. */
  readonly summary: RunSummary | undefined;
  /** The `seq` of the next record. */
  readonly nextSeq: number;
  /** What the last transaction saved; undefined when none did, null when it is damaged. */
  readonly snapshot: Json | undefined;
  /** Last `seq` that the snapshot covers; -1 when it covers none or there is none. */
  readonly snapshotSeq: number;
  /**
   * Records stored after `snapshotSeq`, by whoever, in `seq` order: a fold takes them in before it goes on. Read on
   * first use, all of them into memory.
   */
  missed(): readonly TrajectoryRecord[];
}

/** What a fold wants stored. */
export interface RunChange<Result> {
  /** As a batch of `append`, of the run that was asked for; none is allowed. */
  readonly records: readonly TrajectoryRecord[];
  /**
   * Replaces the saved snapshot, and covers all that is stored of the run then, with `records`; absent leaves it as
   * it is. A run of which only a snapshot is saved is not listed.
   */
  readonly snapshot?: Json;
  readonly result: Result;
}

/** What to search for. */
export interface SearchQuery {
  /**
   * Words, all of which a record's text must hold; `"quoted words"` stand together, and so do the parts of a word
   * with marks inside, such as `src/a.ts`. Nothing in it has another meaning. At most 1,000 UTF-16 units.
   *
   * A record's text is every string value of its payload, without keys and `kind`. A word is a run of letters and
   * digits, in any case (NFKC, lower case; accents count); in scripts without spaces each character is one. Of a word
   * over 64 characters the first 64 count.
   */
  readonly text: string;
  readonly runId?: string;
  /** Payload kinds as they are stored; default all. */
  readonly kinds?: readonly string[];
  /** 1 to 1,000; default 50. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly after?: string;
}

/** A record that was found. */
export interface SearchHit {
  readonly runId: string;
  readonly seq: number;
  readonly atMs: number;
  readonly kind: string;
  /** The place, at most 200 UTF-16 units of the record's text around the first word asked for. */
  readonly snippet: string;
}

/** A page of what was found: the latest `atMs` first, then by `runId` in code point order, then the highest `seq`. */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  readonly next?: string;
  /**
   * Records not yet in the index, and so not searched, where a driver indexes in the background; 0 elsewhere. It
   * goes down to 0 by itself when nothing is appended.
   */
  readonly notIndexed: number;
  /** Records that the index names for these words and that are damaged: they are left out. Absent when there is none. */
  readonly damaged?: readonly { readonly runId: string; readonly seq?: number }[];
}

/** Something wrong with what is stored. */
export interface StoreProblem {
  readonly runId?: string;
  readonly seq?: number;
  /** File and line or byte, table and row. */
  readonly place: string;
  readonly problem: string;
}

/** Takes records in order. The half of a store that a recorder needs. */
export interface TrajectorySink {
  /**
   * Appends records in order: all of them or none.
   *
   * A record belongs to its `run_id`, which may be any well-formed Unicode text (no lone surrogates) of at most
   * `MAX_RUN_ID_CHARS`. Records already stored whose JSON is equal are skipped, so a retry is safe.
   *
   * @param batch  one run, `seq` ascending without holes, 1 to `MAX_BATCH_RECORDS` records, each with `run_id`.
   *   A `gap` record fills `seq … through_seq`, so the one after it has `through_seq + 1`. Inside the records a
   *   lone surrogate is kept as it is.
   * @returns the last `seq` stored for that run
   * @throws CoxswainError `store-gap` when the batch begins after the next free `seq`
   * @throws CoxswainError `store-conflict` when another record is stored under one of the `seq`s
   * @throws CoxswainError `invalid-argument` for an empty, mixed, too long or unordered batch or a missing or
   *   ill-formed `run_id`
   * @throws CoxswainError `invalid-record` or `schema-version` for a record that could not be read back
   * @throws CoxswainError `store-io` when the medium refuses, `store-closed` after `close()`
   */
  append(batch: readonly TrajectoryRecord[]): Promise<number>;

  /** Resolves when everything appended before the call is as durable as the driver makes it. */
  flush(): Promise<void>;

  /** Flushes and lets go of files and connections. A second call does nothing. */
  close(): Promise<void>;
}

/**
 * A durable home of runs: ordered, idempotent by `(run_id, seq)`, with listing and paging.
 * Every driver passes the one contract suite (`test/support/store-contract.ts`).
 */
export interface TrajectoryStore extends TrajectorySink {
  /**
   * One page of run summaries. Runs that arrive between two pages neither repeat nor hide a run of a later page.
   *
   * @throws CoxswainError `invalid-argument` for a `limit` out of range or an `after` that no page gave
   * Cost: see the driver; never proportional to the records stored once the store is warm.
   */
  listRuns(query?: RunQuery): Promise<RunPage>;

  /** The summary of one run, or undefined when there is none of that id; of a damaged summary, as of a damaged run, its `problem`. */
  findRun(runId: string): Promise<RunSummary | undefined>;

  /**
   * The records of a run in `seq` order, read lazily: nothing is read before the first `next()`, and memory is
   * bounded by about a megabyte and the largest record. Nothing for an unknown run. Records appended meanwhile
   * may be among those given. Unknown payload kinds come back as they were stored.
   *
   * The iteration throws CoxswainError `invalid-argument` for a query out of range, `store-damaged` (with `runId` and
   * `seq` in `details`) when it reaches a record that is not what was written or is missing, `invalid-record` or
   * `schema-version` for one that it cannot decode, `store-io`, and `store-closed`.
   */
  readRun(runId: string, query?: ReadQuery): AsyncIterable<TrajectoryRecord>;

  /**
   * Reads a run's snapshot, folds, appends and saves the snapshot, as one: no other writer of the run comes between,
   * and after a crash either all of it is stored or nothing. The base of short-lived processes that share a run.
   *
   * @param fold  pure and synchronous; may be called again when another writer was faster or the medium refused once.
   *   Only what the last call gave is stored and answered
   * @throws what `fold` throws (nothing is stored then), and as `append`
   * @throws CoxswainError `invalid-argument` also for records of another run or a snapshot that JSON cannot say
   */
  transact<Result>(runId: string, fold: (view: StoredRun) => RunChange<Result>): Promise<Result>;

  /**
   * Removes a run: its records, its summary, its snapshot and what the index holds of it. Its children stay. A later
   * append to that id begins anew at seq 0.
   *
   * Calls for one run are taken in their order. Of a process that ends in the middle, or a power cut, the run is left
   * whole or is gone; room that was not given back then is given back by the next call, for whatever run. Once it
   * resolves, the run is gone for every process. A writer that goes on with the run meets `store-gap`; whoever reads it
   * meanwhile is given no more of it, or `store-io`. A damaged run is removed too.
   *
   * @returns whether anything of it was stored, also a snapshot alone; false for an id that no run can have
   * @throws CoxswainError `store-io` when the medium refuses, or, with jsonl, another process holds the run's lock:
   *   nothing is removed then; `store-closed`
   * Cost: see the driver; grows with the run. Other runs are written meanwhile.
   */
  deleteRun(runId: string): Promise<boolean>;

  /**
   * Bytes that everything stored takes. A run that is deleted counts no longer, also where the medium keeps its room for
   * later; what is counted is the driver's to say (`docs/stores.md`), and `RunPage.bytes` counts the same for each run.
   *
   * @throws CoxswainError `store-io`, `store-closed`
   * Cost: see the driver; never reads records.
   */
  sizeOf(): Promise<number>;

  /**
   * Records whose text holds the words, newest first. Records that arrive between two pages neither repeat nor hide
   * one of a later page. Nothing for an unknown run or kind. A damaged record is left out; SQLite and
   * PostgreSQL name it in `damaged`.
   *
   * @throws CoxswainError `invalid-argument` for a query without words, out of range, or an `after` that no page gave
   */
  search(query: SearchQuery): Promise<SearchPage>;

  /**
   * Reads everything and gives what is wrong: holes in `seq`, torn or damaged records, broken checksums. Changes
   * nothing. A store that is whole gives nothing. The iteration throws CoxswainError `store-io` and `store-closed`.
   */
  verify(): AsyncIterable<StoreProblem>;
}

/** The half of a store that only reads. */
export type StoreReader = Pick<TrajectoryStore, 'listRuns' | 'findRun' | 'readRun' | 'search' | 'close'>;

/** A store that is only read, by somebody who looks at it again and again. */
export interface LiveReader extends StoreReader, Pick<TrajectoryStore, 'sizeOf' | 'verify'> {
  /**
   * Ids of the runs that were written to since the last call; undefined when anything may have changed, as at the first. A run may
   * be named that did not change. PostgreSQL does not name a run that was deleted.
   *
   * @throws CoxswainError `store-io` and `store-closed`
   * Cost: one number of SQLite where nothing was written, nothing in PostgreSQL, a look at the files of up to 564 runs in jsonl.
   */
  changes(): Promise<readonly string[] | undefined>;
  /** Every run once, in no order, where there is a cheaper way than page by page. */
  listAll?(): AsyncIterable<RunSummary>;
}
