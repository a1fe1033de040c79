/** A pattern's kind as people read it: `error_cascade` is `error cascade`. */
export function patternName(kind: string): string {
  return kind
    .slice(0, 60)
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
