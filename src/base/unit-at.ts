/**
 * The UTF-16 unit at a place of a text; 0 outside of it.
 *
 * `charCodeAt` outside of a text gives NaN, and once it has, V8 compiles the place that asked to a call that is several times
 * slower for every unit after it: a scanner that looks one unit ahead pays for it all along.
 */
export function unitAt(text: string, at: number): number {
  return at >= 0 && at < text.length ? text.charCodeAt(at) : 0;
}
