/** A clock with timers. */
export interface Timers {
  /** Returns the milliseconds of a clock that never runs backwards. */
  nowMs(): number;
  /**
   * Calls `run` once, after `delayMs`.
   *
   * @param hold  `hold`: keeps the process alive until then; `let-go`: does not
   * @returns a function that cancels the timer
   */
  after(delayMs: number, run: () => void, hold: 'hold' | 'let-go'): () => void;
}

/** The machine's timers. */
export const systemTimers: Timers = {
  nowMs: () => performance.now(),
  after: (delayMs, run, hold) => {
    const timer = setTimeout(run, delayMs);
    if (hold === 'let-go') timer.unref();
    return () => clearTimeout(timer);
  },
};
