import { countMembers, memberText } from './member-text.ts';
import type { UnrecognisedPayload } from './trajectory-record.ts';

/**
 * The payload with its text as it stood in the text of its record, where that says more than the values do: how numbers and
 * escapes are written, blanks, and members written twice. A record is one line: line breaks between its parts become blanks.
 *
 * @param recordText  the text that the record was parsed from
 * Cost: one pass over the text, and one encoding of the payload.
 */
export function withSourceText(payload: UnrecognisedPayload, recordText: string): UnrecognisedPayload {
  const source = memberText(recordText, 'payload');
  if (source === undefined) return payload;
  // Inside a string neither a line break nor half a character can stand but as an escape, or mean anything else.
  const text = source.replaceAll(/[\n\r]/g, ' ').replaceAll(/\p{Surrogate}/gu, escaped);
  const written = canonicalText(payload);
  return text !== written && saysTheSame(text, written) ? { ...payload, text } : payload;
}

/**
 * The text under which the payload is stored: its own, unless that is not what its values say.
 *
 * Throws what `JSON.stringify` throws.
 */
export function textToStore(payload: UnrecognisedPayload): string {
  const { original, text } = payload;
  const written = JSON.stringify(original);
  if (text === undefined || /[\n\r]/.test(text) || !text.isWellFormed()) return written;
  return saysTheSame(text, written) ? text : written;
}

/** True when the text may hold a member twice, so that it says more than the values show. */
export function repeatsMembers(payload: UnrecognisedPayload): boolean {
  const written = canonicalText(payload);
  return written === undefined || countMembers(payload.text ?? written) !== countMembers(written);
}

/** Undefined for values that are nested too deep to be written. */
function canonicalText({ original }: UnrecognisedPayload): string | undefined {
  try {
    return JSON.stringify(original);
  } catch {
    return undefined;
  }
}

function saysTheSame(text: string, written: string | undefined): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === written;
  } catch {
    return false;
  }
}

function escaped(surrogate: string): string {
  return `\\u${surrogate.charCodeAt(0).toString(16)}`;
}
