/**
 * Returns a source value as text for keys and messages. Text is unchanged; other values become JSON. Never throws. `String`
 * would throw for an object with the field `"toString": null`.
 *
 * @param value  decoded JSON, or undefined
 */
export function plainText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}
