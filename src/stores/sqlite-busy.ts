import { errcodeOf } from '../core/store/store-error.ts';

const SQLITE_BUSY = 5;

/** Returns true if another connection holds the lock. The statement then had no effect and may be repeated. */
export function isBusy(thrown: unknown): boolean {
  return ((errcodeOf(thrown) ?? 0) & 0xff) === SQLITE_BUSY;
}

/** Waits a random short time for the transaction of another process, without blocking the event loop. */
export async function pauseForLock(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() < 0.5 ? 1 : 2));
}

/**
 * Repeats `work` while SQLite is busy.
 *
 * @throws what `work` throws: any other error immediately, "busy" after `timeoutMs`
 */
export async function whileBusy<Result>(work: () => Result, timeoutMs: number): Promise<Result> {
  const startMs = performance.now();
  for (;;) {
    try {
      return work();
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() - startMs >= timeoutMs) throw thrown;
    }
    await pauseForLock();
  }
}
