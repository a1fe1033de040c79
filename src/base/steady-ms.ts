/**
 * Milliseconds of a monotonic clock. Unlike `performance.now()`, which takes a short-lived process 2 ms to load.
 */
export function steadyMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
