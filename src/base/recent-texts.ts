/**
 * What is made of a text, kept for the texts that were met lately: for what only saves work. A fixed number of places; a text
 * takes that of another one which falls on the same, so the oldest are forgotten by and by.
 *
 * Cost: at most 128 characters of the text are looked at to find its place, and the text is compared where its place is taken. A map
 * would hash the whole text, which takes a good part of what is saved.
 */
export class RecentTexts<V extends object> {
  readonly #texts: string[];
  readonly #values: (V | undefined)[];
  readonly #make: (text: string) => V;

  /**
   * @param places  a power of two
   * @param make  may throw; then nothing is kept
   */
  constructor(places: number, make: (text: string) => V) {
    this.#texts = Array.from({ length: places }, () => '');
    this.#values = Array.from({ length: places }, () => undefined);
    this.#make = make;
  }

  get(text: string): V {
    const place = this.#placeOf(text);
    const kept = this.#texts[place] === text ? this.#values[place] : undefined;
    if (kept !== undefined) return kept;
    const value = this.#make(text);
    this.#texts[place] = text;
    this.#values[place] = value;
    return value;
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
