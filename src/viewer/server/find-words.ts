/**
 * The words of a search in lower case; `"words in quotes"` are one. A text matches if it contains each of them.
 */
export function findWords(text: string): readonly string[] {
  return [...text.toLowerCase().matchAll(/"([^"]*)"?|[^\s"]+/g)]
    .map(([word, quoted]) => (quoted ?? word).trim())
    .filter((word) => word !== '');
}
