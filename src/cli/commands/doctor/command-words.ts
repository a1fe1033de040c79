/** Splits a shell command as written by `init` into words. A word is unquoted, or in single or double quotes. */
export function commandWords(command: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [, space, single, double, escaped, bare] of command.matchAll(PART)) {
    if (space !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      // In double quotes, a backslash escapes only these four characters.
      const text = single ?? double?.replaceAll(/\\([\\"$`])/g, '$1') ?? escaped ?? bare ?? '';
      word = (word ?? '') + text;
    }
  }
  return word === undefined ? words : [...words, word];
}

const PART = /(\s+)|'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+|['"\\])/g;
