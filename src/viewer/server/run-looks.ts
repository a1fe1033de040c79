import { setTimeout as sleep } from 'node:timers/promises';

import { LruMap } from '../../base/lru-map.ts';
import type { RunSummary } from '../../store/run-summary.ts';
import type { Overview, RunExtras } from './api-shapes.ts';
import { createBreather } from '../../base/breather.ts';
import { isDamage } from './read-records.ts';
import { RunLook } from './run-look.ts';
import { printOf, RunIndex, type IndexedRun } from './run-index.ts';
import type { ViewerSource } from './viewer-source.ts';

/** Runs whose folds are kept, so that what is appended is all that has to be read. About half a megabyte each at most. */
const MAX_FOLDS = 24;
const MAX_PASSING = 24;
/** Runs whose extras are kept. About 500 bytes each. */
const MAX_EXTRAS = 100_000;
/** Runs that are read at a time: they share one processor. */
const MAX_READING = 2;

interface Fold {
  readonly look: RunLook;
  /** Set while records are read. */
  reading?: Promise<void>;
  /** The run's `lastSeq` when a record of it could not be read: it is not tried again before something is appended. */
  failedAt?: number;
}

interface KnownExtras {
  readonly lastSeq: number;
  readonly extras: RunExtras;
}

/**
 * What was seen in the runs of one source: each is read once, then only what is appended, and forgotten when others are looked at.
 * Reading goes on in the background when whoever asked stops waiting. Of a run that is damaged, what comes before the damage is
 * seen.
 */
export class RunLooks {
  readonly #source: ViewerSource;
  /** Of runs that somebody opened. */
  readonly #folds = new LruMap<Fold>(MAX_FOLDS);
  /** Of runs that a list looked at: going through all of them must not push the others out. */
  readonly #passing = new LruMap<Fold>(MAX_PASSING);
  readonly #extras = new LruMap<KnownExtras>(MAX_EXTRAS);
  readonly #index: RunIndex;
  /** What the index held when the viewer started, until a run of it is asked for. */
  #kept: Map<string, IndexedRun> | undefined;
  readonly #queue: (() => void)[] = [];
  #reading = 0;

  /** @param cacheFolder  where what was seen is kept for the next start; undefined: nowhere */
  constructor(source: ViewerSource, cacheFolder?: string) {
    this.#source = source;
    this.#index = new RunIndex(cacheFolder, source.path);
    source.listen((change) => {
      if (change.type === 'gone') this.#forget(change.runId);
      else if (change.type === 'anew') this.#clear();
    });
  }

  /** The extras of a run as far as they are known for all of its records. */
  known(run: RunSummary): RunExtras | undefined {
    const { lastSeq, runId } = run;
    const known = this.#extras.get(runId);
    if (known !== undefined) return known.lastSeq >= lastSeq ? known.extras : undefined;
    this.#kept ??= this.#index.load();
    const kept = this.#kept.get(runId);
    if (kept === undefined) return undefined;
    this.#kept.delete(runId);
    if (kept.print !== printOf(run)) return undefined;
    this.#extras.set(runId, { lastSeq, extras: kept.extras });
    return kept.extras;
  }

  /** Whether a run that somebody opened is being read: what has time waits for it. */
  get isBusy(): boolean {
    return this.#folds.entries().some(([, { reading }]) => reading !== undefined);
  }

  /** Writes what is still to be kept. */
  close(): void {
    this.#index.close();
  }

  /**
   * The extras of a run, read where they are not known.
   *
   * @returns undefined when that takes longer than `waitMs`; it goes on all the same
   * @throws CoxswainError when the store cannot be read
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
   * The run from far away, as far as it could be read within `waitMs`; 0 starts no reading.
   *
   * @throws CoxswainError when the store cannot be read
   */
  async overview(run: RunSummary, waitMs: number): Promise<Overview> {
    const { failedAt, look } = await this.#opened(run, waitMs);
    const overview = look.overview(run.lastSeq);
    return failedAt === run.lastSeq ? { ...overview, complete: true } : overview;
  }

  /** What was seen of a run that somebody looks at, as `overview`. */
  async look(run: RunSummary, waitMs: number): Promise<RunLook> {
    return (await this.#opened(run, waitMs)).look;
  }

  async #opened(run: RunSummary, waitMs: number): Promise<Fold> {
    const fold = this.#folds.get(run.runId) ?? this.#passing.get(run.runId) ?? { look: new RunLook() };
    this.#folds.set(run.runId, fold);
    this.#passing.delete(run.runId);
    await this.#within(run, fold, waitMs);
    return fold;
  }

  async #within(run: RunSummary, fold: Fold, waitMs: number): Promise<void> {
    if (waitMs > 0 && fold.look.nextSeq <= run.lastSeq && fold.failedAt !== run.lastSeq) {
      const reading = (fold.reading ??= this.#read(run, fold));
      const stop = new AbortController();
      const timer = sleep(waitMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
      try {
        await Promise.race([reading, timer]);
      } finally {
        stop.abort();
      }
    }
  }

  async #read(run: RunSummary, fold: Fold): Promise<void> {
    await this.#turn();
    try {
      const reader = await this.#source.reader();
      const breath = createBreather();
      for await (const record of reader.readRun(run.runId, { fromSeq: fold.look.nextSeq })) {
        fold.look.fold(record);
        const pause = breath();
        if (pause !== undefined) await pause;
      }
    } catch (error) {
      if (!isDamage(error) && run.problem === undefined) throw error;
      // The run's row tells of it.
      fold.failedAt = run.lastSeq;
    } finally {
      delete fold.reading;
      this.#reading -= 1;
      this.#queue.shift()?.();
    }
    // Whoever forgot the run meanwhile meant it.
    if (this.#folds.get(run.runId) !== fold && this.#passing.get(run.runId) !== fold) return;
    const lastSeq = fold.failedAt ?? fold.look.nextSeq - 1;
    const extras = fold.look.extras();
    this.#extras.set(run.runId, { lastSeq, extras });
    // Of a run that grew meanwhile more was seen than its row says.
    if (lastSeq === run.lastSeq) this.#index.put(run.runId, { print: printOf(run), extras });
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
