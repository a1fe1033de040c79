import { setTimeout as sleep } from 'node:timers/promises';

export async function waitAtMost(work: Promise<unknown>, waitMs: number): Promise<void> {
  const stop = new AbortController();
  try {
    await Promise.race([work, sleep(waitMs, undefined, { signal: stop.signal, ref: false }).catch(() => {})]);
  } finally {
    stop.abort();
  }
}
