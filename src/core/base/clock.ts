/** Returns the current time. */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
}

/** The clock of the machine. */
export const systemClock: Clock = { nowMs: () => Date.now() };
