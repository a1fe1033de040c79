/** Returns the words in the source of a regular expression, to generate texts that it may match. */
export function wordsOfForm(form: RegExp): readonly string[] {
  const source = form.source.replaceAll(/\\[a-z]/gi, ' ').replaceAll(/\[[A-Z]([a-z])\]/g, '$1');
  return source.match(/[A-Za-z]{2,}(?: [a-z]+)?/g) ?? [];
}
