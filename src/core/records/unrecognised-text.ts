import type { UnrecognisedPayload } from './trajectory-record.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Returns the source text of a member's value in a JSON object, trimmed. If the member occurs more than once, the last
 * value is returned, as in `JSON.parse`.
 *
 * @param json  valid JSON text of an object
 *
 * Cost: one pass over the text, no recursion.
 */
export function memberText(json: string, name: string): string | undefined {
  let depth = 0;
  let key = '';
  let valueAt = 0;
  let foundText: string | undefined;
  for (let position = 0; position < json.length; position += 1) {
    switch (json.charCodeAt(position)) {
      case QUOTE: {
        const end = stringEnd(json, position);
        // A string between members is a member name.
        if (depth === 1 && valueAt === 0) key = json.slice(position, end);
        position = end - 1;
        break;
      }
      case COLON:
        if (depth === 1) valueAt = position + 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        if (depth === 0 && valueAt > 0 && JSON.parse(key) === name) foundText = json.slice(valueAt, position).trim();
        break;
      case COMMA:
        if (depth !== 1) break;
        if (JSON.parse(key) === name) foundText = json.slice(valueAt, position).trim();
        valueAt = 0;
        break;
      default:
    }
  }
  return foundText;
}

/** Returns the number of members in all objects of a JSON text. Cost: one pass. */
export function countMembers(json: string): number {
  let count = 0;
  for (let position = 0; position < json.length; position += 1) {
    const unit = json.charCodeAt(position);
    if (unit === QUOTE) position = stringEnd(json, position) - 1;
    else if (unit === COLON) count += 1;
  }
  return count;
}

/** Returns the index after a string that starts at a quote. */
function stringEnd(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let position = quote;
    while (json.charCodeAt(position - 1) === BACKSLASH) position -= 1;
    if ((quote - position) % 2 === 0) return quote + 1;
  }
  return json.length;
}

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
