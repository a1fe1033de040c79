import type { SeqWindow } from './timeline-layout.ts';

/** Which `seq`s the reader sees. It changes with every pixel of scrolling, so only those who ask are told. */
export class VisibleRange {
  #window: SeqWindow = { from: 0, to: 1 };
  readonly #listeners = new Set<() => void>();

  readonly get = (): SeqWindow => this.#window;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  set(window: SeqWindow): void {
    if (window.from === this.#window.from && window.to === this.#window.to) return;
    this.#window = window;
    for (const listener of this.#listeners) listener();
  }
}
