import { LruMap } from '../../base/lru-map.ts';
import type { RunSummary } from '../../store/run-summary.ts';
import type { Overview, RunExtras } from './api-shapes.ts';
import { createBreather } from '../../base/breather.ts';
import { isDamage } from './read-records.ts';
import { RunLook, type KnownTimeline } from './run-look.ts';
import { printOf, RunIndex, type IndexedRun } from './run-index.ts';
import type { ViewerSource } from './viewer-source.ts';
import { waitAtMost } from './wait-at-most.ts';

/**
 * Maximum number of runs whose state stays in memory, so that only appended records are read. Each takes at most about half a megabyte.
 */
const MAX_FOLDS = 24;
const MAX_PASSING = 24;
/** Each entry takes about 500 bytes. */
const MAX_EXTRAS = 100_000;
/** Maximum number of runs read at the same time. They share one processor. */
const MAX_READING = 2;

/** The timeline of a longer run is cached across restarts. Reading this many records takes about 40 ms. */
const SHORT_RUN_RECORDS = 2_000;

export function isLong(run: RunSummary): boolean {
  return run.lastSeq >= SHORT_RUN_RECORDS;
}

interface Fold {
  /** A cached state cannot be continued: when records are appended, the run is read again. */
  look: RunLook | KnownTimeline;
  reading?: Promise<void>;
  /** The run's `lastSeq` when reading it failed. The run is not read again until records are appended. */
  failedAt?: number;
}

interface KnownExtras {
  readonly lastSeq: number;
  readonly extras: RunExtras;
}

/**
 * The computed state of the runs of one source. Each run is read once; after that, only appended records are read. The least recently
 * used states are dropped. Reading continues in the background when the caller stops waiting. A damaged run is read up to the damaged
 * record.
 */
export class RunLooks {
  readonly #source: ViewerSource;
  /** The states of runs that the user opened. */
  readonly #folds = new LruMap<Fold>(MAX_FOLDS);
  /** The states of runs that were read only for a list. They are separate, so that reading all runs does not evict the opened ones. */
  readonly #passing = new LruMap<Fold>(MAX_PASSING);
  readonly #extras = new LruMap<KnownExtras>(MAX_EXTRAS);
  readonly #index: RunIndex;
  /** The rows of the index that have not been used yet. */
  #indexed: Map<string, IndexedRun> | undefined;
  readonly #queue: (() => void)[] = [];
  #reading = 0;

  /** @param cacheFolder  folder that stores the extras for the next start; undefined: they are not stored */
  constructor(source: ViewerSource, cacheFolder?: string) {
    this.#source = source;
    this.#index = new RunIndex(cacheFolder, source.path);
    source.listen((change) => {
      if (change.type === 'gone') this.#forget(change.runId);
      else if (change.type === 'reset') this.#clear();
    });
  }

  /** Returns the extras of a run, or undefined until all its records have been read. */
  known(run: RunSummary): RunExtras | undefined {
    const { lastSeq, runId } = run;
    const known = this.#extras.get(runId);
    if (known !== undefined) return known.lastSeq >= lastSeq ? known.extras : undefined;
    this.#indexed ??= this.#index.load();
    const indexed = this.#indexed.get(runId);
    if (indexed === undefined) return undefined;
    this.#indexed.delete(runId);
    if (indexed.print !== printOf(run)) return undefined;
    this.#extras.set(runId, { lastSeq, extras: indexed.extras });
    return indexed.extras;
  }

  /** True while an opened run is being read. Background work waits for it. */
  get isBusy(): boolean {
    return this.#folds.entries().some(([, { reading }]) => reading !== undefined);
  }

  close(): void {
    this.#index.close();
  }

  /**
   * Returns the extras of a run.
   *
   * @returns undefined if reading takes longer than `waitMs`; reading continues in the background
   * @throws CoxswainError if the store cannot be read
   */
  async extras(run: RunSummary, waitMs: number): Promise<RunExtras | undefined> {
    const known = this.known(run);
    if (known !== undefined) return known;
    const fold = this.#folds.get(run.runId) ?? this.#passing.get(run.runId) ?? { look: new RunLook() };
    if (!this.#folds.has(run.runId)) this.#passing.set(run.runId, fold);
    await this.#within(run, fold, waitMs);
    return this.known(run);
  }

  /**
   * Returns the overview of the records that were read within `waitMs`. With 0, no reading is started.
   *
   * @throws CoxswainError if the store cannot be read
   */
  async overview(run: RunSummary, waitMs: number): Promise<Overview> {
    const { failedAt, look, reading } = await this.#opened(run, waitMs);
    const overview = look.overview(run.lastSeq);
    // The extras of the run follow shortly after its last record.
    return { ...overview, complete: failedAt === run.lastSeq || (overview.complete && reading === undefined) };
  }

  /** Returns the state of an opened run. It waits like `overview`. */
  async look(run: RunSummary, waitMs: number): Promise<KnownTimeline> {
    return (await this.#opened(run, waitMs)).look;
  }

  async #opened(run: RunSummary, waitMs: number): Promise<Fold> {
    const fold = this.#folds.get(run.runId) ??
      this.#passing.get(run.runId) ?? { look: (isLong(run) ? this.#index.run(run) : undefined) ?? new RunLook() };
    this.#folds.set(run.runId, fold);
    this.#passing.delete(run.runId);
    await this.#within(run, fold, waitMs);
    return fold;
  }

  async #within(run: RunSummary, fold: Fold, waitMs: number): Promise<void> {
    if (waitMs === 0) return;
    if (fold.look.nextSeq <= run.lastSeq && fold.failedAt !== run.lastSeq) fold.reading ??= this.#read(run, fold);
    if (fold.reading !== undefined) await waitAtMost(fold.reading, waitMs);
  }

  async #read(run: RunSummary, fold: Fold): Promise<void> {
    const look = fold.look instanceof RunLook ? fold.look : new RunLook();
    fold.look = look;
    await this.#turn();
    try {
      const reader = await this.#source.reader();
      const breath = createBreather();
      for await (const record of reader.readRun(run.runId, { fromSeq: look.nextSeq })) {
        look.fold(record);
        const pause = breath();
        if (pause !== undefined) await pause;
      }
    } catch (error) {
      if (!isDamage(error) && run.problem === undefined) throw error;
      fold.failedAt = run.lastSeq;
    } finally {
      delete fold.reading;
      this.#reading -= 1;
      this.#queue.shift()?.();
    }
    // The state was dropped from memory while the run was being read.
    if (this.#folds.get(run.runId) !== fold && this.#passing.get(run.runId) !== fold) return;
    const lastSeq = fold.failedAt ?? look.nextSeq - 1;
    const extras = look.extras();
    this.#extras.set(run.runId, { lastSeq, extras });
    // If the run grew in the meantime, its state is newer than its row.
    if (lastSeq !== run.lastSeq) return;
    this.#index.put(run, extras);
    if (isLong(run) && fold.failedAt === undefined) this.#index.putRun(run, look);
  }

  async #turn(): Promise<void> {
    if (this.#reading >= MAX_READING) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#reading += 1;
  }

  #forget(runId: string): void {
    this.#folds.delete(runId);
    this.#passing.delete(runId);
    this.#extras.delete(runId);
  }

  #clear(): void {
    this.#folds.clear();
    this.#passing.clear();
    this.#extras.clear();
  }
}
