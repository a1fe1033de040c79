const SQLITE_BUSY = 5;

/** True if another connection holds the lock: the statement did nothing and may be repeated. */
export function isBusy(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    'errcode' in thrown &&
    typeof thrown.errcode === 'number' &&
    (thrown.errcode & 0xff) === SQLITE_BUSY
  );
}

/** Waits a random short time for another process's transaction, without blocking the event loop. */
export async function pauseForLock(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() < 0.5 ? 1 : 2));
}

/**
 * Repeats `work` while SQLite is busy.
 *
 * @throws what `work` throws: any other error at once, "busy" after `timeoutMs`
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
