import { TERMINAL_SEQUENCES, unseen } from './shown-text.ts';

const UNSEEN = unseen();

/**
 * Makes untrusted text safe for one line of a terminal. Line breaks become `⏎`, and tabs become a blank. Removes sequences that
 * move the cursor, and that colour, reorder or hide text.
 *
 * Cost: linear in the length of the text. Truncate long texts first.
 */
export function printable(text: string): string {
  return text
    .replaceAll(/\r\n|[\n\r\u2028\u2029]/g, '⏎')
    .replaceAll('\t', ' ')
    .replaceAll(TERMINAL_SEQUENCES, '')
    .replaceAll(UNSEEN, '')
    .toWellFormed();
}

/** Applies `printable` and truncates the text to `chars` UTF-16 code units, with `…` at the end. */
export function printableCut(text: string, chars: number): string {
  const shown = printable(text.slice(0, 4 * chars));
  return shown.length <= chars ? shown : `${shown.slice(0, chars - 1).toWellFormed()}…`;
}

/**
 * Formats a value as one line of JSON that is safe for a terminal. Characters that `printable` removes become `\u` escapes, so
 * parsing returns the same value.
 */
export function jsonLine(value: unknown): string {
  return printableJson(JSON.stringify(value));
}

/** Version of the JSON that commands print. It increases when a field is removed or changes its meaning. */
const OUTPUT_SCHEMA = 1;

/** Formats an object as `jsonLine` does, with its `schema` number. */
export function outputLine(value: object): string {
  return jsonLine({ schema: OUTPUT_SCHEMA, ...value });
}

/**
 * Applies the same escapes to JSON text without line breaks. Tabs between tokens are kept.
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
