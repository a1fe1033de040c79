/**
 * The words of a search as they stand, in lower case: `"words in quotes"` are one. A text holds them when it holds each of them.
 */
export function findWords(text: string): readonly string[] {
  return [...text.toLowerCase().matchAll(/"([^"]*)"?|[^\s"]+/g)]
    .map(([word, quoted]) => (quoted ?? word).trim())
    .filter((word) => word !== '');
}
