const SQLITE_BUSY = 5;

/** True for "another connection holds the lock": the statement did nothing and may be repeated. */
export function isBusy(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    'errcode' in thrown &&
    typeof thrown.errcode === 'number' &&
    (thrown.errcode & 0xff) === SQLITE_BUSY
  );
}

/** A short wait for another process's transaction, of random length, during which the event loop runs. */
export async function pauseForLock(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() < 0.5 ? 1 : 2));
}

/**
 * Repeats `work` as long as SQLite says that it is busy.
 *
 * @throws what `work` throws: anything else at once, "busy" after `timeoutMs`
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
