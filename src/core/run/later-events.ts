/**
 * Maximum number of events emitted during one step, including the events that they cause. It is half the capacity of the
 * record queue.
 */
export const MAX_LATER_EVENTS = 5_000;

/** A bounded queue of events that providers and subscribers emit. They are processed after the current event. */
export class LaterEvents {
  #queue: (() => void)[] = [];
  #taken = 0;
  #isDraining = false;

  /** @returns `full` for the first event that does not fit, `over` for the next ones */
  add(event: () => void): 'taken' | 'full' | 'over' {
    if (this.#taken > MAX_LATER_EVENTS) return 'over';
    this.#taken += 1;
    if (this.#taken > MAX_LATER_EVENTS) return 'full';
    this.#queue.push(event);
    return 'taken';
  }

  /**
   * Processes the events in order, including those they cause. A nested call during a drain does nothing.
   *
   * @param onFault  called with each thrown value; the remaining events are still processed
   */
  drain(onFault: (error: unknown) => void): void {
    if (this.#isDraining || this.#taken === 0) return;
    this.#isDraining = true;
    try {
      // The list may grow during the iteration.
      for (const event of this.#queue) {
        try {
          event();
        } catch (error) {
          onFault(error);
        }
      }
    } finally {
      this.#isDraining = false;
      this.#queue = [];
      this.#taken = 0;
    }
  }
}
