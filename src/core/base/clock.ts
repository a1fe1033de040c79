export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Returns the milliseconds of a monotonic clock. Loading `performance.now()` instead takes a short-lived process 2 ms. */
export function steadyMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Blocks the thread. */
export function sleepSync(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

/**
 * Doubles from `firstMs` to `longestMs`, minus a random part of up to half.
 *
 * @param failures  from 1
 * @param random  0 to 1
 */
export function backoffMs(
  failures: number,
  { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
  random: number = Math.random(),
): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 20)) * (1 - random / 2);
}
