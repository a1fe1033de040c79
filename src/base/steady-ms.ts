/**
 * Milliseconds of a clock that only goes forwards, from some point in the past. As `performance.now()`, which however
 * loads what a short-lived process would wait 2 ms for.
 */
export function steadyMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
