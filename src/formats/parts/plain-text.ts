/**
 * A source value as text, for keys and messages: text unchanged, other values as JSON. Never throws: `String` does for
 * an object that says `"toString": null`.
 *
 * @param value  decoded JSON, or undefined
 */
export function plainText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}
