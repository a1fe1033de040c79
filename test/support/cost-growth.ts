/** Between 32, the growth of linear work, and 1,024, the growth of quadratic work; collection and caches cost up to four times more. */
export const MOST_LINEAR_GROWTH = 180;

/** Less than this is not measured: compilation and the clock's step weigh more. */
const LEAST_MS = 0.5;
const ROUNDS = 4;

/**
 * How many times more processor time a work takes for 32 times the input: about 32 where it is linear, 1,024
 * where it is quadratic. Other processes do not count: it is the time of this thread alone, and the least of several rounds.
 *
 * @param work  called with the factor to repeat an input by; the small input should take half a millisecond or more
 */
export function costGrowth(work: (factor: 1 | 32) => void): number {
  const leastOf = (factor: 1 | 32): number => {
    const rounds = Array.from({ length: ROUNDS }, () => cpuMs(() => work(factor)));
    return Math.max(LEAST_MS, Math.min(...rounds));
  };
  const once = leastOf(1);
  return leastOf(32) / once;
}

/** Processor time that a piece of work takes in this thread, in milliseconds. */
export function cpuMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { system, user } = process.threadCpuUsage(before);
  return (system + user) / 1_000;
}
