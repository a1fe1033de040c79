/** Separates items of a list sent as one text: JSON text, which is what is sent, never holds it. */
const SEPARATOR = '\u001e';

/** Most UTF-16 units of JSON sent with one statement: a parameter of PostgreSQL holds a gigabyte at most. */
const CHARS_A_STATEMENT = 16 * 1024 * 1024;

/**
 * PostgreSQL's text cannot hold U+0000. An id is stored with U+0000 as U+0001 U+0001 and U+0001 as U+0001 U+0002: every
 * id stays another one, and they stay in code point order.
 */
export function toIdText(runId: string): string {
  return runId.replace(/[\0\u0001]/g, (unit) => (unit === '\0' ? '\u0001\u0001' : '\u0001\u0002'));
}

/** Turns `toIdText` around. */
export function fromIdText(text: string): string {
  return text.replace(/\u0001([\u0001\u0002])/g, (_, unit) => (unit === '\u0001' ? '\0' : '\u0001'));
}

/**
 * The form of a kind that a column can hold. Kinds that differ only in control characters or lone surrogates share one,
 * so what is found by it is compared again.
 */
export function toKindText(kind: string): string {
  return kind.toWellFormed().replace(/[\0-\u001f]/g, '\ufffd');
}

/** Texts as one parameter, for `listOf`. Each is free of control characters. */
export function joinTexts(texts: readonly string[]): string {
  return texts.join(SEPARATOR);
}

/** SQL for the list that `joinTexts` sent as parameter `index`; an empty text stands for an empty list. */
export function listParameter(index: number): string {
  return `string_to_array($${index}, chr(30))`;
}

/** Cuts items into lists that each fit one statement. At least one item a list. */
export function chunksOf<T>(items: readonly T[], charsOf: (item: T) => number): readonly (readonly T[])[] {
  const chunks: T[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const item of items) {
    if (chars + charsOf(item) > CHARS_A_STATEMENT) {
      chunks.push([]);
      chars = 0;
    }
    chunks.at(-1)?.push(item);
    chars += charsOf(item);
  }
  return chunks;
}
