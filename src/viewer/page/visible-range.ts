/** A part of a run as a range of `seq` values, from `from` to before `to`. */
export interface SeqRange {
  readonly from: number;
  readonly to: number;
}

/** The visible range of `seq` values. It changes with every scroll event, so only its subscribers are notified. */
export class VisibleRange {
  #window: SeqRange = { from: 0, to: 1 };
  readonly #listeners = new Set<() => void>();

  readonly get = (): SeqRange => this.#window;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  set(window: SeqRange): void {
    if (window.from === this.#window.from && window.to === this.#window.to) return;
    this.#window = window;
    for (const listener of this.#listeners) listener();
  }
}
