/**
 * What was made of texts lately, by the text: for what only saves work. A fixed number of places; a text takes that of another
 * one which falls on the same, so the oldest are forgotten by and by.
 *
 * Cost: at most 128 characters of the text are looked at to find its place, and the text is compared where its place is taken. A map
 * would hash the whole text, which takes a good part of what is saved.
 */
export class RecentTexts<V> {
  readonly #texts: string[];
  readonly #values: (V | undefined)[];

  /** @param places  a power of two */
  constructor(places: number) {
    this.#texts = Array.from({ length: places }, () => '');
    this.#values = Array.from({ length: places }, () => undefined);
  }

  get(text: string): V | undefined {
    const place = this.#placeOf(text);
    return this.#texts[place] === text ? this.#values[place] : undefined;
  }

  set(text: string, value: V): void {
    const place = this.#placeOf(text);
    this.#texts[place] = text;
    this.#values[place] = value;
  }

  #placeOf(text: string): number {
    const { length } = text;
    const stride = (length >>> 6) + 1;
    let hash = length;
    // From the end, where near texts differ most.
    for (let at = length - 1; at >= 0; at -= stride) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    return (hash ^ (hash >>> 15)) & (this.#texts.length - 1);
  }
}
