/** Splits a search text into lower-case words. `"words in quotes"` count as one. A text matches if it contains each of the words. */
export function findWords(text: string): readonly string[] {
  return [...text.toLowerCase().matchAll(/"([^"]*)"?|[^\s"]+/g)]
    .map(([word, quoted]) => (quoted ?? word).trim())
    .filter((word) => word !== '');
}
