/**
 * Returns the UTF-16 unit at an index of a text, or 0 outside the text.
 *
 * Outside the text, `charCodeAt` returns NaN. Once that happens, V8 compiles the call to code that is several times slower
 * for every later unit. A scanner that reads one unit ahead would stay slow.
 */
export function unitAt(text: string, index: number): number {
  return index >= 0 && index < text.length ? text.charCodeAt(index) : 0;
}
