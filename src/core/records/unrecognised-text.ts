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
  const sourceText = source.replaceAll(/[\n\r]/g, ' ').replaceAll(/\p{Surrogate}/gu, unicodeEscape);
  const canonical = canonicalText(payload);
  return sourceText !== canonical && hasSameValues(sourceText, canonical) ? { ...payload, text: sourceText } : payload;
}

/** Returns the text to store: the source text, unless it differs from the values. Throws as `JSON.stringify`. */
export function textToStore(payload: UnrecognisedPayload): string {
  const { original, text } = payload;
  const canonical = JSON.stringify(original);
  if (text === undefined || /[\n\r]/.test(text) || !text.isWellFormed()) return canonical;
  return hasSameValues(text, canonical) ? text : canonical;
}

/** Returns true if the text may contain duplicate members, which the values do not show. */
export function repeatsMembers(payload: UnrecognisedPayload): boolean {
  const canonical = canonicalText(payload);
  return canonical === undefined || countMembers(payload.text ?? canonical) !== countMembers(canonical);
}

/** Returns undefined for values that are nested too deep. */
function canonicalText({ original }: UnrecognisedPayload): string | undefined {
  try {
    return JSON.stringify(original);
  } catch {
    return undefined;
  }
}

function hasSameValues(text: string, canonical: string | undefined): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === canonical;
  } catch {
    return false;
  }
}

function unicodeEscape(surrogate: string): string {
  return `\\u${surrogate.charCodeAt(0).toString(16)}`;
}
