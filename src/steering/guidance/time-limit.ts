/** Where delays come from, so that a test needs no real time. */
export interface TaskTimers {
  /** Calls `callback` once after `delayMs` milliseconds. @returns stops it, if it has not run yet */
  after(delayMs: number, callback: () => void): () => void;
}

/** The machine's timers. One that waits does not keep the process alive. */
export const taskTimers: TaskTimers = {
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** How a task with a time limit ended. */
export type TimedOutcome<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'failed'; readonly thrown: unknown }
  | { readonly kind: 'timed-out' };

/** How long a task may take. */
export interface TaskLimit {
  readonly timeLimitMs: number;
  /** Default: the machine's. */
  readonly timers?: TaskTimers;
}

/**
 * Runs a task that may take `timeLimitMs`. The promise never rejects and settles when the task or the time is over,
 * whichever comes first; then the task's signal is aborted if it still runs, and what it does later is ignored.
 *
 * @param task may throw at once, reject, or ignore its signal
 */
export function withTimeLimit<Value>(
  task: (signal: AbortSignal) => PromiseLike<Value> | Value,
  limit: TaskLimit,
): Promise<TimedOutcome<Value>> {
  const { timeLimitMs, timers = taskTimers } = limit;
  const controller = new AbortController();
  return new Promise((resolve) => {
    const stop = timers.after(timeLimitMs, () => {
      resolve({ kind: 'timed-out' });
      controller.abort();
    });
    const settle = (outcome: TimedOutcome<Value>): void => {
      stop();
      resolve(outcome);
    };
    // Inside the executor of a promise, so that a task that throws at once is treated as one that rejects.
    new Promise<Value>((started) => started(task(controller.signal))).then(
      (value) => settle({ kind: 'done', value }),
      (thrown: unknown) => settle({ kind: 'failed', thrown }),
    );
  });
}
