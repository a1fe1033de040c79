/** Events from within one step, also those that they lead to: half of what waits for a store at most. */
export const MAX_LATER_EVENTS = 5_000;

/** What is emitted from within a provider or a subscriber: it happens after what is happening now. Bounded. */
export class LaterEvents {
  #waiting: (() => void)[] = [];
  #taken = 0;
  #isDraining = false;

  /** @returns `full` for the first one for which there is no room, `over` for the next ones */
  add(event: () => void): 'taken' | 'full' | 'over' {
    if (this.#taken > MAX_LATER_EVENTS) return 'over';
    this.#taken += 1;
    if (this.#taken > MAX_LATER_EVENTS) return 'full';
    this.#waiting.push(event);
    return 'taken';
  }

  /**
   * Lets them happen, in order; what that leads to in turn comes last. Does nothing when called from inside.
   *
   * @param onFault  called with what one of them throws; the rest happens all the same
   */
  drain(onFault: (error: unknown) => void): void {
    if (this.#isDraining || this.#taken === 0) return;
    this.#isDraining = true;
    try {
      // The list grows while it is walked.
      for (const event of this.#waiting) {
        try {
          event();
        } catch (error) {
          onFault(error);
        }
      }
    } finally {
      this.#isDraining = false;
      this.#waiting = [];
      this.#taken = 0;
    }
  }
}
