import { countMembers, memberText } from './member-text.ts';
import type { UnrecognisedPayload } from './trajectory-record.ts';

/**
 * Adds the source text to a payload if the values do not determine the text. Examples are the notation of numbers and
 * escapes, whitespace, and duplicate members. Line breaks become spaces, because a record is one line.
 *
 * @param recordText  the source text of the record
 *
 * Cost: one pass over the text, and one encoding of the payload.
 */
export function withSourceText(payload: UnrecognisedPayload, recordText: string): UnrecognisedPayload {
  const source = memberText(recordText, 'payload');
  if (source === undefined) return payload;
  // Inside a string, line breaks and lone surrogates are always escaped. These replacements therefore do not change
  // strings.
  const text = source.replaceAll(/[\n\r]/g, ' ').replaceAll(/\p{Surrogate}/gu, escaped);
  const written = canonicalText(payload);
  return text !== written && saysTheSame(text, written) ? { ...payload, text } : payload;
}

/** Returns the text to store: the source text, unless it differs from the values. Throws as `JSON.stringify`. */
export function textToStore(payload: UnrecognisedPayload): string {
  const { original, text } = payload;
  const written = JSON.stringify(original);
  if (text === undefined || /[\n\r]/.test(text) || !text.isWellFormed()) return written;
  return saysTheSame(text, written) ? text : written;
}

/** Returns true if the text may contain duplicate members, which the values do not show. */
export function repeatsMembers(payload: UnrecognisedPayload): boolean {
  const written = canonicalText(payload);
  return written === undefined || countMembers(payload.text ?? written) !== countMembers(written);
}

/** Returns undefined for values that are nested too deep. */
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
