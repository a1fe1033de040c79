import { TERMINAL_SEQUENCES, unseen } from '../../base/shown-text.ts';

const UNSEEN = unseen();

/**
 * A text from outside as it may stand in one line of a terminal: line breaks as `⏎`, tabs as a blank, everything
 * that moves the cursor, colours, reorders or hides text taken out.
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

/** `printable`, cut to `chars` UTF-16 units with `…` at the cut. */
export function printableCut(text: string, chars: number): string {
  const shown = printable(text.slice(0, 4 * chars));
  return shown.length <= chars ? shown : `${shown.slice(0, chars - 1).toWellFormed()}…`;
}

/**
 * A value as one line of JSON in which nothing acts on a terminal: what `JSON.stringify` leaves raw of the
 * characters that `printable` takes out is written as `\u` escapes. Parsing gives the value back unchanged.
 */
export function jsonLine(value: unknown): string {
  return printableJson(JSON.stringify(value));
}

/**
 * The same for JSON that is text already and holds no line break. Tabs between its parts, which are no part of any value, stay.
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
