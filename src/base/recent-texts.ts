/**
 * A cache of values computed from texts. It has a fixed number of slots; a text replaces another one in its slot.
 *
 * Cost: the slot depends on at most 128 characters; the text is compared with the one in its slot. A map would hash the
 * whole text, which takes much of the time saved.
 */
export class RecentTexts<V extends object> {
  readonly #texts: string[];
  readonly #values: (V | undefined)[];
  readonly #make: (text: string) => V;

  /**
   * @param places  a power of two
   * @param make  may throw; then nothing is cached
   */
  constructor(places: number, make: (text: string) => V) {
    this.#texts = Array.from({ length: places }, () => '');
    this.#values = Array.from({ length: places }, () => undefined);
    this.#make = make;
  }

  get(text: string): V {
    const place = this.#placeOf(text);
    const cached = this.#texts[place] === text ? this.#values[place] : undefined;
    if (cached !== undefined) return cached;
    const value = this.#make(text);
    this.#texts[place] = text;
    this.#values[place] = value;
    return value;
  }

  #placeOf(text: string): number {
    const { length } = text;
    const stride = (length >>> 6) + 1;
    let hash = length;
    // From the end, where similar texts differ most.
    for (let at = length - 1; at >= 0; at -= stride) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    return (hash ^ (hash >>> 15)) & (this.#texts.length - 1);
  }
}
