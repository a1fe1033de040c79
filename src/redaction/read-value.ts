import { bareEnd, isQuote, isReference, isSecretValue, lineEnd, quotedEnd, type Standing } from './secret-value.ts';
import { placeholderEnd, type SecretSpan } from './secret-span.ts';
import { MAX_NAME_CHARS, type NameStrength } from './secret-names.ts';

/** Maximum number of backslashes before a quote. It covers JSON nested four times in JSON strings. */
const MAX_BACKSLASHES = 16;
const MAX_BLANKS = 64;

/** The nesting between a secret's name and its value: a list, an object with one value member, a block, a YAML list. */
const NESTED =
  /(?:[{[]\s{0,40}|(?:[|>][-+]?)?[ \t]{0,8}(?:\r?\n|\\n)[ \t]{1,40}(?:- )?)(?:\\{0,8}["'`]?(?:value|current|plain|plaintext|secret|secretString|data|raw|text|content|default|password|token|key)\\{0,8}["'`]?\s{0,4}(?:[:=]|=>)\s{0,8})?/iy;

/** Returns the start of a nested value, or `begin` if the value is not nested. */
function nestedBegin(text: string, begin: number): number {
  if (!'{[|>\n\r\\'.includes(text.charAt(begin) || ' ')) return begin;
  NESTED.lastIndex = begin;
  if (!NESTED.test(text)) return begin;
  const opening = text.slice(begin, NESTED.lastIndex);
  const isNamed = /[:=>]\s*$/.test(opening.slice(1));
  const isBlock = opening.startsWith('|') || opening.startsWith('>');
  return isNamed || isBlock || opening.startsWith('[') || opening.endsWith('- ') ? NESTED.lastIndex : begin;
}

/** Returns the secret whose value begins at `from`, and undefined for other values. */
export function readValue(text: string, from: number, how: Standing): SecretSpan | undefined {
  if (placeholderEnd(text, from) >= 0) return undefined;
  const begin = how.separator === ':' || how.separator === '=' ? nestedBegin(text, from) : from;
  const escapes = countBackslashes(text, begin);
  const quoted = isQuote(text.charCodeAt(begin + escapes));
  if (!quoted && escapes > 0) return undefined;
  const start = quoted ? begin + escapes + 1 : begin;
  // This is checked first, so that a rejected value is not read to its end each time.
  if (placeholderEnd(text, start) >= 0 || isReference(text, start)) return undefined;
  const quotedTo = quoted ? quotedEnd(text, start, escapes) : undefined;
  // Code: `cookies = await …`.
  if (how.strength === 'cookie' && how.separator === '=' && !quoted) return undefined;
  if (how.strength !== 'strong' && how.strength !== 'weak') return headerValue(text, start, how.strength, quotedTo);
  const end = quotedTo ?? bareEnd(text, start, how.upper && how.opensLine);
  if (!isSecretValue(text, { ...how, start, end, quoted })) return undefined;
  return { start, end: from < begin && text[from] === '[' && quoted ? listEnd(text, end) : end, rule: 'named-secret' };
}

const LIST_REST = /(?:["'],\s{0,8}["'][^"'\n\]]{1,200}){0,50}(?=["']\s{0,8}\])/y;

/** The end of the last quoted value of a list whose first one ends at `end`. */
function listEnd(text: string, end: number): number {
  LIST_REST.lastIndex = end;
  return LIST_REST.test(text) ? LIST_REST.lastIndex : end;
}

/** Returns the end of the spaces and tabs that start at `from`. Cost: bounded. */
export function skipBlanks(text: string, from: number): number {
  let at = from;
  const limit = from + MAX_BLANKS;
  while (at < limit && (text[at] === ' ' || text[at] === '\t')) at += 1;
  return at;
}

/** The number of backslashes at `from`, at most sixteen. */
export function countBackslashes(text: string, from: number): number {
  let at = from;
  while (text[at] === '\\' && at - from < MAX_BACKSLASHES) at += 1;
  return at - from;
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
function setCookieSpan(text: string, begin: number): SecretSpan | undefined {
  COOKIE_NAME.lastIndex = begin;
  if (!COOKIE_NAME.test(text)) return undefined;
  const start = COOKIE_NAME.lastIndex;
  if (placeholderEnd(text, start) >= 0) return undefined;
  const end = bareEnd(text, start);
  return end - start < 3 ? undefined : { start, end, rule: 'cookie' };
}

const SCHEME =
  /(?:bearer|basic|digest|token|negotiate|ntlm|apikey|api-key|bot|hawk|sso-key|key|splunk|aws4-hmac-sha256) {1,8}/iy;

/** The value of an `Authorization` header, without its scheme. */
function authorizationSpan(text: string, begin: number, quotedTo: number | undefined): SecretSpan | undefined {
  SCHEME.lastIndex = begin;
  const hasScheme = SCHEME.test(text);
  const start = hasScheme ? SCHEME.lastIndex : begin;
  if (placeholderEnd(text, start) >= 0 || isReference(text, start)) return undefined;
  // Digests and signatures have quoted parts: read to the end of the line.
  const hasParts = hasScheme && /^(?:digest|hawk|aws4)/i.test(text.slice(begin, begin + 6));
  const end = quotedTo ?? (hasScheme ? lineEnd(text, start, hasParts) : bareEnd(text, start));
  if (end - start < 3) return undefined;
  const isWord = end - start <= MAX_NAME_CHARS && /^[A-Za-z]+$/.test(text.slice(start, end));
  if (isWord && !hasScheme && quotedTo === undefined) return undefined;
  const rule = /^basic /i.test(text.slice(begin, begin + 6)) ? 'basic-auth' : 'bearer-token';
  return { start, end, rule };
}
