/** The first and the longest delay, in milliseconds. */
const FIRST_MS = 50;
const LONGEST_MS = 5_000;

/**
 * Returns the delay before the next retry. It doubles from 50 ms to 5 s, minus a random part of up to half.
 *
 * @param failures  from 1
 * @param random  0 to 1
 */
export function retryDelayMs(failures: number, random: number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 20));
  return whole * (1 - random / 2);
}
