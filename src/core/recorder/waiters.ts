import type { Timers } from './timers.ts';

interface Waiter {
  readonly isDone: () => boolean;
  readonly finish: (isDone: boolean) => void;
}

/** Calls that wait for a condition with a time limit. They keep the process alive. */
export class Waiters {
  readonly #timers: Timers;
  readonly #waiting = new Set<Waiter>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /**
   * Resolves to true once `isDone` returns true. It is called now and at each `wake`. Resolves to false after
   * `timeLimitMs`.
   */
  waitUntil(isDone: () => boolean, timeLimitMs: number): Promise<boolean> {
    if (isDone()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        isDone,
        finish: (done) => {
          cancel();
          this.#waiting.delete(waiter);
          resolve(done);
        },
      };
      const cancel = this.#timers.after(timeLimitMs, () => waiter.finish(false), 'hold');
      this.#waiting.add(waiter);
    });
  }

  /**
   * Resolves to the result of `work`, which must not reject, or to false after `timeLimitMs`.
   */
  waitFor(timeLimitMs: number, work: Promise<boolean>): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#timers.after(timeLimitMs, () => resolve(false), 'hold');
      const settle = async (): Promise<void> => {
        const result = await work;
        cancel();
        resolve(result);
      };
      void settle();
    });
  }

  wake(): void {
    for (const waiter of this.#waiting) if (waiter.isDone()) waiter.finish(true);
  }
}
