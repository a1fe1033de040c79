import { LruMap } from '../base/lru-map.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { expectedSeqOf } from './append-fault.ts';
import { WaitingRun } from './waiting-run.ts';

/** Number of idle runs whose `durableSeq` is remembered. */
const MAX_IDLE_RUNS = 10_000;

/** The runs of a queue: active runs, which have waiting records, and recently idle runs. */
export class WaitingRuns {
  readonly #active = new Map<string, WaitingRun>();
  readonly #idle = new LruMap<WaitingRun>(MAX_IDLE_RUNS);

  get active(): readonly WaitingRun[] {
    return [...this.#active.values()];
  }

  get hasActive(): boolean {
    return this.#active.size > 0;
  }

  /** The number of runs that are retried, and how long the first of them has been failing. */
  failingCounts(nowMs: number): { readonly failingRuns: number; readonly failingForMs: number } {
    const failingSince = this.active.flatMap(({ failingSinceMs }) => failingSinceMs ?? []);
    const longestMs = Math.max(0, ...failingSince.map((sinceMs) => nowMs - sinceMs));
    return { failingRuns: failingSince.length, failingForMs: Math.round(longestMs) };
  }

  find(runId: string): WaitingRun | undefined {
    return this.#active.get(runId) ?? this.#idle.get(runId);
  }

  getOrCreate(record: TrajectoryRecord): WaitingRun {
    const runId = record.run_id ?? '';
    const existing = this.find(runId);
    if (existing !== undefined) return existing;
    const run = new WaitingRun(runId);
    this.#idle.set(runId, run);
    return run;
  }

  activate(run: WaitingRun): void {
    this.#active.set(run.runId, run);
  }

  /** Makes a run idle if none of its records wait. */
  settle(run: WaitingRun): void {
    if (!run.isEmpty) return;
    this.#active.delete(run.runId);
    this.#idle.set(run.runId, run);
  }

  clear(): void {
    this.#active.clear();
  }
}

/**
 * Returns the condition of a flush: everything that waits now is stored or lost. For a gap that the sink refuses, one
 * attempt is enough.
 */
export function createSettledCheck(runs: readonly WaitingRun[]): () => boolean {
  const targets = runs.map((run) => ({ run, through: run.lastSeq, tries: run.attempts }));
  return () =>
    targets.every(({ run, through, tries }) => {
      if (run.firstRecordSeq <= through) return false;
      const isTried = run.attempts > tries && (run.state === 'idle' || run.state === 'resting');
      return run.firstWaitingSeq > through || isTried;
    });
}

/** Adds a gap for the records that the sink lost before the batch. @returns false if that has not helped before */
export function fillHole(run: WaitingRun, error: unknown): boolean {
  const expected = expectedSeqOf(error);
  run.holesFilled += 1;
  return expected !== undefined && run.holesFilled <= 3 && run.prependGap(expected, 'not in the store');
}
