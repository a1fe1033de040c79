import type { Clock } from '../core/base/clock.ts';

/** A clock that only moves when `advance` is called. */
export interface FakeClock extends Clock {
  /** Advances the clock by `seconds`, which may be fractional or negative. */
  advance(seconds: number): void;
}

/** @param startMs  Unix milliseconds; default: 1,700,000,000,000 (November 2023) */
export function createFakeClock(startMs = 1_700_000_000_000): FakeClock {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    advance(seconds: number): void {
      nowMs += seconds * 1_000;
    },
  };
}
