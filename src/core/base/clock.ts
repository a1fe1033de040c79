export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Returns the milliseconds of a monotonic clock. Loading `performance.now()` instead takes a short-lived process 2 ms. */
export function steadyMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
