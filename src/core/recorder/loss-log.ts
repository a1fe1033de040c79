import { systemClock } from '../base/clock.ts';
import { logFault, type HookFault } from '../node/fault-log.ts';
import { countOf, durationText } from '../base/number-text.ts';
import { projectFolderOf } from '../node/project-folder.ts';
import { faultText } from './fault-text.ts';
import type { QueueCounts } from './queue-counts.ts';
import type { WaitingRun } from './waiting-run.ts';

/** Minimum time between two entries about similar losses, unless their number has grown tenfold. */
const PAUSE_MS = 60_000;
/** A store that fails for this long is logged, because a killed process could not log what it lost. */
const FAILING_MS = 10_000;
/** Maximum number of runs that are logged at the end of a process. */
const MAX_RUNS = 100;

/** Writes the losses of a queue to the log that `coxswain doctor` reads, so that they are known after the process has ended. */
export class LossLog {
  #loggedCount = 0;
  #nextAtMs = -Infinity;
  #isFailing = false;

  /** Logs the records lost since the last entry. @param isEnd  logs them even shortly after the last entry */
  logDropped({ dropped, lastFault }: Pick<QueueCounts, 'dropped' | 'lastFault'>, nowMs: number, isEnd = false): void {
    const newLosses = dropped - this.#loggedCount;
    if (newLosses <= 0 || (!isEnd && nowMs < this.#nextAtMs && dropped < this.#loggedCount * 10)) return;
    const total = this.#loggedCount === 0 ? '' : ` (${countOf(dropped, 'record')} in all by this process)`;
    this.#loggedCount = dropped;
    this.#nextAtMs = nowMs + PAUSE_MS;
    log({ message: `${countOf(newLosses, 'record')} lost${total}: ${causeText(lastFault)}` });
  }

  /** Returns true if every lost record is logged. */
  isComplete({ dropped }: QueueCounts): boolean {
    return dropped === this.#loggedCount;
  }

  /** Logs once that the store fails, until `works` is called. */
  logFailing({ queued, lastFault }: QueueCounts, forMs: number): void {
    if (this.#isFailing || forMs < FAILING_MS) return;
    this.#isFailing = true;
    const waitingText = `${countOf(queued, 'record')} ${queued === 1 ? 'waits' : 'wait'} in memory`;
    log({ message: `the store has failed for ${durationText(forMs)}, ${waitingText}: ${causeText(lastFault)}` });
  }

  clearFailing(): void {
    this.#isFailing = false;
  }

  /** Logs every loss when the process ends: the records of each run that will never be in the store, then all others. */
  logEnd(runs: readonly WaitingRun[], { dropped, lastFault }: QueueCounts, nowMs: number): void {
    this.#logUnsaved(runs, lastFault);
    const loggedGaps = runs.reduce((sum, run) => sum + run.gapRecords, 0);
    this.logDropped({ dropped: dropped - loggedGaps, lastFault }, nowMs, true);
    this.#loggedCount = dropped;
  }

  #logUnsaved(runs: readonly WaitingRun[], lastFault: QueueCounts['lastFault']): void {
    const losses = runs.flatMap(({ runId, unsavedRange: range }) =>
      range === undefined ? [] : [{ runId, from: range.from, lost: range.through - range.from + 1 }],
    );
    for (const { runId, from, lost } of losses.slice(0, MAX_RUNS)) {
      const message = `${countOf(lost, 'record')} lost from seq ${from}, because the process ended before the store had them`;
      log({ message: `${message}: ${causeText(lastFault)}`, sessionId: runId, lost });
    }
    const otherLosses = losses.slice(MAX_RUNS);
    const lostCount = otherLosses.reduce((sum, { lost }) => sum + lost, 0);
    if (lostCount === 0) return;
    const message = `${countOf(lostCount, 'record')} lost in ${countOf(otherLosses.length, 'more run')}`;
    log({ message, lost: lostCount });
  }
}

function causeText(fault: unknown): string {
  return fault === undefined ? 'the queue was full' : faultText(fault);
}

function log(fault: Omit<HookFault, 'where'>): void {
  const { env } = process;
  let projectFolder: string | undefined;
  try {
    projectFolder = projectFolderOf({ projectDir: env['CLAUDE_PROJECT_DIR'], cwd: process.cwd() });
  } catch {
    // The working folder was deleted. The fault goes to the user's log.
  }
  logFault({ where: 'recorder', ...fault }, { env, projectFolder, nowMs: systemClock.nowMs() });
}
