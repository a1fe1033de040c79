import { TERMINAL_SEQUENCES, unseen } from '../../base/shown-text.ts';

const UNSEEN = unseen();

/**
 * Makes untrusted text safe for one line of a terminal: line breaks become `⏎`, tabs a blank, and sequences that move the
 * cursor, colour, reorder or hide text are removed.
 *
 * Cost: linear in the text; cut long texts first.
 */
export function printable(text: string): string {
  return text
    .replaceAll(/\r\n|[\n\r\u2028\u2029]/g, '⏎')
    .replaceAll('\t', ' ')
    .replaceAll(TERMINAL_SEQUENCES, '')
    .replaceAll(UNSEEN, '')
    .toWellFormed();
}

/** `printable`, cut to `chars` UTF-16 units, with `…` at the cut. */
export function printableCut(text: string, chars: number): string {
  const shown = printable(text.slice(0, 4 * chars));
  return shown.length <= chars ? shown : `${shown.slice(0, chars - 1).toWellFormed()}…`;
}

/**
 * A value as one line of JSON that is safe for a terminal: characters that `printable` removes become `\u` escapes, so that
 * parsing gives the same value.
 */
export function jsonLine(value: unknown): string {
  return printableJson(JSON.stringify(value));
}

/**
 * The same for JSON text without line breaks. Tabs between its tokens stay.
 */
export function printableJson(json: string): string {
  return `${json.replaceAll(UNSEEN, (character) => (character === '\t' ? character : escaped(character)))}\n`;
}

function escaped(character: string): string {
  let text = '';
  for (let index = 0; index < character.length; index += 1) {
    text += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }
  return text;
}
