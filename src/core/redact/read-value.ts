import { bareEnd, isQuote, isReference, isSecretValue, lineEnd, quotedEnd, type Standing } from './secret-value.ts';
import { placeholderEnd, type SecretSpan } from './secret-span.ts';
import { MAX_NAME_CHARS, type NameStrength } from './secret-names.ts';

/** Maximum number of backslashes before a quote. It covers JSON nested four times in JSON strings. */
const MAX_BACKSLASHES = 16;
const MAX_BLANKS = 64;

/** The nesting between a secret's name and its value: a list, an object with one value member, a block, a YAML list. */
const NESTED =
  /(?:[{[]\s{0,40}|(?:[|>][-+]?)?[ \t]{0,8}(?:\r?\n|\\n)[ \t]{1,40}(?:- )?)(?:\\{0,8}["'`]?(?:value|current|plain|plaintext|secret|secretString|data|raw|text|content|default|password|token|key)\\{0,8}["'`]?\s{0,4}(?:[:=]|=>)\s{0,8})?/iy;

/** Returns the start of a nested value, or `valueStart` if the value is not nested. */
function nestedBegin(text: string, valueStart: number): number {
  if (!'{[|>\n\r\\'.includes(text.charAt(valueStart) || ' ')) return valueStart;
  NESTED.lastIndex = valueStart;
  if (!NESTED.test(text)) return valueStart;
  const opening = text.slice(valueStart, NESTED.lastIndex);
  const isNamed = /[:=>]\s*$/.test(opening.slice(1));
  const isBlock = opening.startsWith('|') || opening.startsWith('>');
  return isNamed || isBlock || opening.startsWith('[') || opening.endsWith('- ') ? NESTED.lastIndex : valueStart;
}

/** Returns the secret whose value begins at `start`, and undefined for other values. */
export function readValue(text: string, startIndex: number, standing: Standing): SecretSpan | undefined {
  if (placeholderEnd(text, startIndex) >= 0) return undefined;
  const valueStart =
    standing.separator === ':' || standing.separator === '=' ? nestedBegin(text, startIndex) : startIndex;
  const escapes = countBackslashes(text, valueStart);
  const isQuoted = isQuote(text.charCodeAt(valueStart + escapes));
  if (!isQuoted && escapes > 0) return undefined;
  const start = isQuoted ? valueStart + escapes + 1 : valueStart;
  // This is checked first, so that a rejected value is not read to its end each time.
  if (placeholderEnd(text, start) >= 0 || isReference(text, start)) return undefined;
  const quotedTo = isQuoted ? quotedEnd(text, start, escapes) : undefined;
  // Code: `cookies = await …`.
  if (standing.strength === 'cookie' && standing.separator === '=' && !isQuoted) return undefined;
  if (standing.strength !== 'strong' && standing.strength !== 'weak')
    return headerValue(text, start, standing.strength, quotedTo);
  const end = quotedTo ?? bareEnd(text, start, standing.upper && standing.opensLine);
  if (!isSecretValue(text, { ...standing, start, end, quoted: isQuoted })) return undefined;
  return {
    start,
    end: startIndex < valueStart && text[startIndex] === '[' && isQuoted ? listEnd(text, end) : end,
    rule: 'named-secret',
  };
}

const LIST_REST = /(?:["'],\s{0,8}["'][^"'\n\]]{1,200}){0,50}(?=["']\s{0,8}\])/y;

/** The end of the last quoted value of a list whose first one ends at `end`. */
function listEnd(text: string, end: number): number {
  LIST_REST.lastIndex = end;
  return LIST_REST.test(text) ? LIST_REST.lastIndex : end;
}

/** Returns the end of the spaces and tabs that start at `start`. Cost: bounded. */
export function skipBlanks(text: string, start: number): number {
  let position = start;
  const limit = start + MAX_BLANKS;
  while (position < limit && (text[position] === ' ' || text[position] === '\t')) position += 1;
  return position;
}

/** The number of backslashes at `start`, at most sixteen. */
export function countBackslashes(text: string, start: number): number {
  let position = start;
  while (text[position] === '\\' && position - start < MAX_BACKSLASHES) position += 1;
  return position - start;
}

/** The secret part of a header's value; undefined for other names. */
function headerValue(text: string, start: number, strength: NameStrength, quotedTo?: number): SecretSpan | undefined {
  if (strength === 'cookie') return cookieSpan(text, start, quotedTo);
  if (strength === 'set-cookie') return setCookieSpan(text, start);
  return strength === 'authorization' ? authorizationSpan(text, start, quotedTo) : undefined;
}

/** The whole value of a `Cookie` header; undefined without `=`. */
function cookieSpan(text: string, start: number, quotedTo: number | undefined): SecretSpan | undefined {
  COOKIE_NAME.lastIndex = start;
  if (!COOKIE_NAME.test(text)) return undefined;
  const end = quotedTo ?? lineEnd(text, start);
  return end <= COOKIE_NAME.lastIndex ? undefined : { start, end, rule: 'cookie' };
}

const COOKIE_NAME = /[A-Za-z0-9_.!#$%&*+^|~-]{1,64}=/y;

/** The cookie's value in a `Set-Cookie` header, without name and attributes. */
function setCookieSpan(text: string, valueStart: number): SecretSpan | undefined {
  COOKIE_NAME.lastIndex = valueStart;
  if (!COOKIE_NAME.test(text)) return undefined;
  const start = COOKIE_NAME.lastIndex;
  if (placeholderEnd(text, start) >= 0) return undefined;
  const end = bareEnd(text, start);
  return end - start < 3 ? undefined : { start, end, rule: 'cookie' };
}

const SCHEME =
  /(?:bearer|basic|digest|token|negotiate|ntlm|apikey|api-key|bot|hawk|sso-key|key|splunk|aws4-hmac-sha256) {1,8}/iy;

/** The value of an `Authorization` header, without its scheme. */
function authorizationSpan(text: string, valueStart: number, quotedTo: number | undefined): SecretSpan | undefined {
  SCHEME.lastIndex = valueStart;
  const hasScheme = SCHEME.test(text);
  const start = hasScheme ? SCHEME.lastIndex : valueStart;
  if (placeholderEnd(text, start) >= 0 || isReference(text, start)) return undefined;
  // Digests and signatures have quoted parts: read to the end of the line.
  const hasParts = hasScheme && /^(?:digest|hawk|aws4)/i.test(text.slice(valueStart, valueStart + 6));
  const end = quotedTo ?? (hasScheme ? lineEnd(text, start, hasParts) : bareEnd(text, start));
  if (end - start < 3) return undefined;
  const isWord = end - start <= MAX_NAME_CHARS && /^[A-Za-z]+$/.test(text.slice(start, end));
  if (isWord && !hasScheme && quotedTo === undefined) return undefined;
  const rule = /^basic /i.test(text.slice(valueStart, valueStart + 6)) ? 'basic-auth' : 'bearer-token';
  return { start, end, rule };
}
