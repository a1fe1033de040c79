import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when the work is done, or after `waitMs` while the work continues. @throws the error of the work, if it fails in that time */
export async function waitAtMost(work: Promise<unknown>, waitMs: number): Promise<void> {
  const stop = new AbortController();
  try {
    await Promise.race([work, sleep(waitMs, undefined, { signal: stop.signal, ref: false }).catch(() => {})]);
  } finally {
    stop.abort();
  }
}
