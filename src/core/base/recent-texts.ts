/** A fixed number of slots by at most 128 characters of a text. A map would hash the whole text. */
export class RecentTexts<V extends object> {
  readonly #texts: string[];
  readonly #values: (V | undefined)[];
  readonly #make: (text: string) => V;

  /**
   * @param places  a power of two
   * @param make  if it throws, nothing is cached
   */
  constructor(places: number, make: (text: string) => V) {
    // Each process of a hook makes them at its start: filling takes a tenth of the time of calling a function for each place.
    this.#texts = Array.from<string>({ length: places }).fill('');
    this.#values = Array.from({ length: places });
    this.#make = make;
  }

  get(text: string): V {
    const place = this.#placeOf(text);
    const cachedValue = this.#texts[place] === text ? this.#values[place] : undefined;
    if (cachedValue !== undefined) return cachedValue;
    const value = this.#make(text);
    this.#texts[place] = text;
    this.#values[place] = value;
    return value;
  }

  #placeOf(text: string): number {
    const { length } = text;
    const stride = (length >>> 6) + 1;
    let hash = length;
    // Starts at the end, where similar texts differ most.
    for (let position = length - 1; position >= 0; position -= stride)
      hash = Math.imul(hash ^ text.charCodeAt(position), 0x01000193);
    return (hash ^ (hash >>> 15)) & (this.#texts.length - 1);
  }
}
