import { stat } from 'node:fs/promises';
import { basename } from 'node:path';

import { present } from '../../base/present.ts';
import { steadyMs } from '../../base/steady-ms.ts';
import type { RunSummary } from '../../store/run-summary.ts';
import type { Problem, SourceRow } from './api-shapes.ts';
import type { RunReader } from './run-reader.ts';
import { problemOf, viewerFault } from './viewer-fault.ts';

/** Runs of a source that are listed: the newest. About 500 bytes each. */
const MAX_RUNS = 100_000;
const PAGE_RUNS = 1_000;
/** A store is looked at again after this at the earliest, and after four times as long as the look took. */
const MIN_PAUSE_MS = 200;

/** What a source is made of. */
export interface SourceSetup {
  /** Short, without slashes. */
  readonly id: string;
  /** As it may be shown. */
  readonly path: string;
  readonly kind: SourceRow['kind'];
  /** Called again when the store was replaced, or is back. */
  readonly open: () => Promise<RunReader>;
}

/** What changed in a source. */
export type SourceChange =
  | { readonly type: 'run'; readonly runId: string }
  /** It is gone, or another run of the same name has begun, which is told next. */
  | { readonly type: 'gone'; readonly runId: string }
  /** Another store lies there now. */
  | { readonly type: 'anew' }
  /** Its problem, or how far reading has come. */
  | { readonly type: 'source' };

/**
 * A store, or files, and the list of its runs, which is kept up to date by `refresh`. A store that cannot be read, is locked, or is
 * gone has a problem until it can be read again; its runs stay listed.
 */
export class ViewerSource {
  readonly id: string;
  readonly path: string;
  readonly #setup: SourceSetup;
  readonly #runs = new Map<string, RunSummary>();
  readonly #childrenOf = new Map<string, Set<string>>();
  readonly #listeners = new Set<(change: SourceChange) => void>();
  #reader: RunReader | undefined;
  #opening: Promise<RunReader> | undefined;
  #place: string | undefined;
  #problem: Problem | undefined;
  #isTruncated = false;
  #hasListed = false;
  #indexing: SourceRow['indexing'];
  #version = 0;
  #told = '';
  #refreshing: Promise<void> | undefined;
  #nextLookMs = 0;
  #isClosed = false;

  constructor(setup: SourceSetup) {
    this.#setup = setup;
    this.id = setup.id;
    this.path = setup.path;
  }

  /** The runs, in no order. */
  get runs(): ReadonlyMap<string, RunSummary> {
    return this.#runs;
  }

  /** Rises with every change of the list. */
  get version(): number {
    return this.#version;
  }

  /** Whether files are still read, so that more runs may follow. */
  get isReading(): boolean {
    return this.#indexing !== undefined;
  }

  childrenOf(runId: string): readonly string[] {
    return [...(this.#childrenOf.get(runId) ?? [])];
  }

  countChildren(runId: string): number {
    return this.#childrenOf.get(runId)?.size ?? 0;
  }

  row(): SourceRow {
    const { id, kind, path } = this.#setup;
    const indexing = this.#indexing;
    const trouble = this.#reader?.trouble?.();
    const problem = this.#problem ?? (trouble === undefined ? undefined : { code: 'input-io', message: trouble });
    return {
      id,
      name: basename(path),
      path,
      kind,
      writable: false,
      runs: this.#runs.size,
      ...(this.#isTruncated ? { truncated: true as const } : {}),
      ...present({ indexing, problem }),
    };
  }

  /**
   * What to read from.
   *
   * @throws CoxswainError with the reason `store-gone`, or as opening the store
   */
  async reader(): Promise<RunReader> {
    if (this.#isClosed) throw viewerFault('store-gone', 'the viewer is closed');
    await this.#seePlace();
    if (this.#reader !== undefined) return this.#reader;
    // Whoever asks meanwhile gets the same: a second one would stay open.
    this.#opening ??= this.#setup.open().finally(() => (this.#opening = undefined));
    const reader = await this.#opening;
    if (this.#isClosed) await reader.close();
    this.#reader = reader;
    return reader;
  }

  /** Told of every change, from the refresh that finds it. @returns ends that */
  listen(listener: (change: SourceChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Looks what is new, unless it was just done. Never throws: what is wrong becomes the problem of the source. */
  async refresh(): Promise<void> {
    if (this.#isClosed || (this.#refreshing === undefined && steadyMs() < this.#nextLookMs)) return;
    this.#refreshing ??= this.#look().finally(() => (this.#refreshing = undefined));
    await this.#refreshing;
  }

  /** The same, but no longer than so many milliseconds; looking goes on. @returns whether all runs have been listed once */
  async refreshWithin(waitMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const waited = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([this.refresh(), waited]);
    clearTimeout(timer);
    return this.#hasListed || this.#problem !== undefined;
  }

  /** Something else than a look found it unreadable: that is its problem until the next look. */
  report(error: unknown): void {
    this.#problem = problemOf(error).problem;
    this.#tellOfSource();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#refreshing;
    await this.#reader?.close();
    this.#reader = undefined;
  }

  async #look(): Promise<void> {
    const startMs = steadyMs();
    try {
      const reader = await this.reader();
      // Before the changes: when it says that all is read, they hold all of it.
      const indexing = reader.indexing?.();
      const changed = await reader.changes();
      const isFull = this.#runs.size > MAX_RUNS + PAGE_RUNS;
      if (changed === undefined || isFull) await this.#listAll(reader);
      else for (const runId of changed) this.#take(runId, await reader.findRun(runId));
      this.#indexing = indexing;
      this.#problem = undefined;
    } catch (error) {
      this.#problem = problemOf(error).problem;
    }
    const now = steadyMs();
    this.#nextLookMs = now + Math.max(MIN_PAUSE_MS, 4 * (now - startMs));
    this.#tellOfSource();
  }

  async #listAll(reader: RunReader): Promise<void> {
    const there = new Set<string>();
    this.#isTruncated = false;
    for await (const run of reader.listAll?.() ?? allRuns(reader)) {
      if (there.size >= MAX_RUNS) {
        this.#isTruncated = true;
        break;
      }
      there.add(run.runId);
      this.#take(run.runId, run);
    }
    for (const runId of this.#runs.keys()) if (!there.has(runId)) this.#take(runId, undefined);
    this.#hasListed = true;
  }

  #take(runId: string, run: RunSummary | undefined): void {
    const before = this.#runs.get(runId);
    if (run === undefined) {
      if (before === undefined) return;
      this.#runs.delete(runId);
      this.#version += 1;
      if (before.parentRunId !== undefined) this.#childrenOf.get(before.parentRunId)?.delete(runId);
      this.#tell({ type: 'gone', runId });
      return;
    }
    if (before !== undefined && isSame(before, run)) return;
    const isAnew = before !== undefined && (run.lastSeq < before.lastSeq || run.startedAtMs !== before.startedAtMs);
    if (isAnew) this.#tell({ type: 'gone', runId });
    this.#runs.set(runId, run);
    this.#version += 1;
    if (run.parentRunId !== undefined) {
      const siblings = this.#childrenOf.get(run.parentRunId) ?? new Set<string>();
      siblings.add(runId);
      this.#childrenOf.set(run.parentRunId, siblings);
    }
    this.#tell({ type: 'run', runId });
  }

  /** @throws CoxswainError with the reason `store-gone` */
  async #seePlace(): Promise<void> {
    // Files that were read stay read, and a database says by itself when it is gone.
    if (this.#setup.kind === 'files' || this.#setup.kind === 'postgres') return;
    const facts = await stat(this.path).catch(() => undefined);
    const place = facts === undefined ? undefined : `${facts.dev} ${facts.ino}`;
    if (place === undefined || (this.#place !== undefined && place !== this.#place)) await this.#forget();
    const isOther = this.#place !== undefined && place !== undefined && place !== this.#place;
    if (place !== undefined) this.#place = place;
    if (isOther) {
      this.#runs.clear();
      this.#childrenOf.clear();
      this.#version += 1;
      this.#tell({ type: 'anew' });
    }
    if (place === undefined) {
      const fix = 'The page goes on by itself when it is there again.';
      throw viewerFault('store-gone', `${this.path} is not there (any more)`, fix);
    }
  }

  async #forget(): Promise<void> {
    const reader = this.#reader;
    this.#reader = undefined;
    await reader?.close();
  }

  #tellOfSource(): void {
    const told = JSON.stringify(this.row());
    if (told === this.#told) return;
    this.#told = told;
    this.#tell({ type: 'source' });
  }

  #tell(change: SourceChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

async function* allRuns(reader: RunReader): AsyncGenerator<RunSummary, void, void> {
  let after: string | undefined;
  do {
    const page = await reader.listRuns(after === undefined ? { limit: PAGE_RUNS } : { limit: PAGE_RUNS, after });
    yield* page.runs;
    after = page.next;
  } while (after !== undefined);
}

/** The members that tell whether anything was written. */
function isSame(a: RunSummary, b: RunSummary): boolean {
  return (
    a.lastSeq === b.lastSeq &&
    a.records === b.records &&
    a.startedAtMs === b.startedAtMs &&
    a.outcome === b.outcome &&
    a.problem === b.problem
  );
}
