/** The source of time. */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { nowMs: () => Date.now() };
