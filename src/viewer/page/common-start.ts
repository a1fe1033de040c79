/** A shorter common beginning leaves the distinguishing part in sight. */
const MIN_START_CHARS = 24;
/** Minimum number of different texts for which a common beginning is left out. */
const MIN_TEXTS = 3;
const PART_CHARS = 80;

/**
 * Returns a function that leaves out the beginning that a text shares with other texts of the list, and marks it with an ellipsis. Texts
 * belong together if their first characters are equal, so a list may contain several groups. The cut is at the beginning of a word.
 *
 * Cost: one pass over the texts.
 */
export function withoutCommonStart(texts: Iterable<string>): (text: string) => string {
  const groups = new Map<string, { start: string; count: number }>();
  for (const text of new Set(texts)) {
    if (text.length <= MIN_START_CHARS) continue;
    const key = text.slice(0, MIN_START_CHARS);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { start: text, count: 1 });
    else groups.set(key, { start: commonStart(group.start, text), count: group.count + 1 });
  }
  return (text) => {
    const group = groups.get(text.slice(0, MIN_START_CHARS));
    if (group === undefined || group.count < MIN_TEXTS || !text.startsWith(group.start)) return text;
    const cut = wordStart(group.start);
    return cut < MIN_START_CHARS ? text : `…${text.slice(cut)}`;
  };
}

/** Returns the different texts without their common beginning, shortened, with their counts, most frequent first. */
export function differingParts(texts: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  const partOf = withoutCommonStart(texts);
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([text, count]) => {
      const part = partOf(text);
      return [part.length <= PART_CHARS ? part : `${part.slice(0, PART_CHARS - 1).toWellFormed()}…`, count] as const;
    });
}

function commonStart(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return a.slice(0, length);
}

/** Returns the position after the last white space of the text. */
function wordStart(text: string): number {
  return text.search(/\S*$/);
}
