import { storePath } from '../../stores/store-address.ts';
import { allRuns } from '../../core/store/run-page.ts';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';

import { present } from '../../core/base/json.ts';
import { steadyMs } from '../../core/base/clock.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import { titlesOf } from '../../core/facts/task-title.ts';
import type { Problem, SourceRow } from './api-shapes.ts';
import type { RunReader } from './read-records.ts';
import { problemOf, viewerFault } from './viewer-fault.ts';
import { waitAtMost } from './wait-at-most.ts';

/** Maximum number of listed runs per source, newest first. Each takes about 500 bytes. */
const MAX_RUNS = 100_000;

export const TITLE_CHARS = 120;
const PAGE_RUNS = 1_000;
/** Minimum pause between two refreshes. The pause is also at least four times as long as the last refresh took. */
const MIN_PAUSE_MS = 200;

export interface SourceSetup {
  readonly id: string;
  readonly path: string;
  readonly kind: SourceRow['kind'];
  /** Opens the store. It is called again after the store was replaced or became available again. */
  readonly open: () => Promise<RunReader>;
}

export type SourceChange =
  | { readonly type: 'run'; readonly runId: string }
  /** The run was deleted, or another run with the same id replaced it. In the second case a `run` change follows. */
  | { readonly type: 'gone'; readonly runId: string }
  | { readonly type: 'reset' }
  | { readonly type: 'source' };

/** If a store is unreadable, locked or gone, the source has a problem, and its runs stay listed. */
export class ViewerSource {
  readonly id: string;
  readonly path: string;
  readonly #tasks = new Set<string>();
  #titles: ReadonlyMap<string, string> | undefined;
  readonly #setup: SourceSetup;
  readonly #runs = new Map<string, RunSummary>();
  readonly #childrenOf = new Map<string, Set<string>>();
  readonly #listeners = new Set<(change: SourceChange) => void>();
  #reader: RunReader | undefined;
  #opening: Promise<RunReader> | undefined;
  #storeIdentity: string | undefined;
  #problem: Problem | undefined;
  #isTruncated = false;
  #isListed = false;
  #indexing: SourceRow['indexing'];
  #version = 0;
  #lastRow = '';
  #refreshing: Promise<void> | undefined;
  #nextRefreshMs = 0;
  #isClosed = false;

  constructor(setup: SourceSetup) {
    this.#setup = setup;
    this.id = setup.id;
    this.path = setup.path;
  }

  get kind(): SourceRow['kind'] {
    return this.#setup.kind;
  }

  get runs(): ReadonlyMap<string, RunSummary> {
    return this.#runs;
  }

  get version(): number {
    return this.#version;
  }

  /** True while files may contain runs that have not been found yet. */
  get isReading(): boolean {
    const isUnlisted = this.#isOfFiles && !this.#isListed && this.#problem === undefined;
    return this.#indexing !== undefined || isUnlisted;
  }

  get #isOfFiles(): boolean {
    return this.kind === 'files' || this.kind === 'sessions';
  }

  titleOf({ runId, task = '' }: RunSummary): string {
    if (task.trim() === '') return runId;
    this.#titles ??= titlesOf(this.#tasks, TITLE_CHARS);
    return this.#titles.get(task) ?? task;
  }

  projectOf(runId: string): string | undefined {
    return this.#reader?.projectOf?.(runId);
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
      runs: this.#runs.size,
      ...(this.#isTruncated ? { truncated: true as const } : {}),
      ...present({ indexing, problem }),
    };
  }

  /** @throws CoxswainError with the reason `store-gone`, or with the errors of opening the store */
  async reader(): Promise<RunReader> {
    if (this.#isClosed) throw viewerFault('store-gone', 'the viewer is closed');
    await this.#checkStore();
    if (this.#reader !== undefined) return this.#reader;
    // Concurrent callers share one opening. A second reader would never be closed.
    this.#opening ??= this.#setup.open().finally(() => (this.#opening = undefined));
    const reader = await this.#opening;
    if (this.#isClosed) await reader.close();
    this.#reader = reader;
    return reader;
  }

  listen(listener: (change: SourceChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Looks for changes, unless this was just done. It never throws: an error becomes the problem of the source. */
  async refresh(): Promise<void> {
    if (this.#isClosed || (this.#refreshing === undefined && steadyMs() < this.#nextRefreshMs)) return;
    this.#refreshing ??= this.#findChanges().finally(() => (this.#refreshing = undefined));
    await this.#refreshing;
  }

  /** Waits at most `waitMs` for a refresh, which continues in the background. True if all runs have been listed once. */
  async refreshWithin(waitMs: number): Promise<boolean> {
    await waitAtMost(this.refresh(), waitMs);
    return this.#isListed || this.#problem !== undefined;
  }

  reportProblem(error: unknown): void {
    this.#problem = problemOf(error).problem;
    this.#notifyIfRowChanged();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#refreshing;
    await this.#reader?.close();
    this.#reader = undefined;
  }

  async #findChanges(): Promise<void> {
    const startMs = steadyMs();
    try {
      const reader = await this.reader();
      // This value is read before the changes. If it is undefined, the changes are complete.
      const indexing = reader.indexing?.();
      const changedIds = await reader.changes();
      for (const runId of reader.takeReplaced?.() ?? []) {
        if (this.#runs.has(runId)) this.#notify({ type: 'gone', runId });
      }
      const isFull = this.#runs.size > MAX_RUNS + PAGE_RUNS;
      if (changedIds === undefined || isFull) await this.#listAll(reader);
      else for (const runId of changedIds) this.#updateRun(runId, await reader.findRun(runId));
      this.#indexing = indexing;
      this.#problem = undefined;
    } catch (error) {
      this.#problem = problemOf(error).problem;
    }
    const endMs = steadyMs();
    this.#nextRefreshMs = endMs + Math.max(MIN_PAUSE_MS, 4 * (endMs - startMs));
    this.#notifyIfRowChanged();
  }

  async #listAll(reader: RunReader): Promise<void> {
    const listedIds = new Set<string>();
    this.#isTruncated = false;
    for await (const run of reader.listAll?.() ?? allRuns(reader)) {
      if (listedIds.size >= MAX_RUNS) {
        this.#isTruncated = true;
        break;
      }
      listedIds.add(run.runId);
      this.#updateRun(run.runId, run);
    }
    for (const runId of this.#runs.keys()) if (!listedIds.has(runId)) this.#updateRun(runId, undefined);
    this.#isListed = true;
  }

  #updateRun(runId: string, run: RunSummary | undefined): void {
    const previous = this.#runs.get(runId);
    if (run === undefined) {
      if (previous === undefined) return;
      this.#runs.delete(runId);
      this.#version += 1;
      if (previous.parentRunId !== undefined) this.#childrenOf.get(previous.parentRunId)?.delete(runId);
      this.#notify({ type: 'gone', runId });
      return;
    }
    if (previous !== undefined && isUnchanged(previous, run)) return;
    const isReplaced =
      previous !== undefined && (run.lastSeq < previous.lastSeq || run.startedAtMs !== previous.startedAtMs);
    if (isReplaced) this.#notify({ type: 'gone', runId });
    this.#runs.set(runId, run);
    if (run.task !== undefined && !this.#tasks.has(run.task)) {
      this.#tasks.add(run.task);
      this.#titles = undefined;
    }
    this.#version += 1;
    if (run.parentRunId !== undefined) {
      const siblings = this.#childrenOf.get(run.parentRunId) ?? new Set<string>();
      siblings.add(runId);
      this.#childrenOf.set(run.parentRunId, siblings);
    }
    this.#notify({ type: 'run', runId });
  }

  async #checkStore(): Promise<void> {
    // Imported files stay in the temporary store, and a database reports itself when it is gone.
    const path = this.#isOfFiles ? undefined : storePath(this.path);
    if (path === undefined) return;
    const stats = await stat(path).catch(() => undefined);
    const identity = stats === undefined ? undefined : `${stats.dev} ${stats.ino}`;
    if (identity === undefined || (this.#storeIdentity !== undefined && identity !== this.#storeIdentity))
      await this.#closeReader();
    const isReplaced = this.#storeIdentity !== undefined && identity !== undefined && identity !== this.#storeIdentity;
    if (identity !== undefined) this.#storeIdentity = identity;
    if (isReplaced) {
      this.#runs.clear();
      this.#tasks.clear();
      this.#titles = undefined;
      this.#childrenOf.clear();
      this.#version += 1;
      this.#notify({ type: 'reset' });
    }
    if (identity === undefined) {
      const fix = 'The page continues when it is back.';
      throw viewerFault('store-gone', `${this.path} does not exist (any more)`, fix);
    }
  }

  async #closeReader(): Promise<void> {
    const reader = this.#reader;
    this.#reader = undefined;
    await reader?.close();
  }

  #notifyIfRowChanged(): void {
    const row = JSON.stringify(this.row());
    if (row === this.#lastRow) return;
    this.#lastRow = row;
    this.#notify({ type: 'source' });
  }

  #notify(change: SourceChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

function isUnchanged(a: RunSummary, b: RunSummary): boolean {
  return (
    a.lastSeq === b.lastSeq &&
    a.records === b.records &&
    a.startedAtMs === b.startedAtMs &&
    a.outcome === b.outcome &&
    a.problem === b.problem
  );
}
