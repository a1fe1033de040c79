import { isReference, bareEnd, lineEnd } from './secret-value.ts';
import { MAX_NAME_CHARS, type NameStrength } from './secret-names.ts';
import { placeholderEnd, type SecretSpan } from './secret-span.ts';

/** The secret part of a header's value; undefined for a name that is no header's. */
export function headerValue(
  text: string,
  start: number,
  strength: NameStrength,
  quotedTo?: number,
): SecretSpan | undefined {
  if (strength === 'cookie') return cookieSpan(text, start, quotedTo);
  if (strength === 'set-cookie') return setCookieSpan(text, start);
  return strength === 'authorization' ? authorizationSpan(text, start, quotedTo) : undefined;
}

/** All of a `Cookie` header; a value without `=` is none. */
function cookieSpan(text: string, start: number, quotedTo: number | undefined): SecretSpan | undefined {
  COOKIE_NAME.lastIndex = start;
  if (!COOKIE_NAME.test(text)) return undefined;
  const end = quotedTo ?? lineEnd(text, start);
  return end <= COOKIE_NAME.lastIndex ? undefined : { start, end, rule: 'cookie' };
}

const COOKIE_NAME = /[A-Za-z0-9_.!#$%&*+^|~-]{1,64}=/y;

/** The value of a `Set-Cookie` header; its name and attributes stay. */
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

/** What follows the scheme of an `Authorization` header; without a scheme, all of it. */
function authorizationSpan(text: string, begin: number, quotedTo: number | undefined): SecretSpan | undefined {
  SCHEME.lastIndex = begin;
  const hasScheme = SCHEME.test(text);
  const start = hasScheme ? SCHEME.lastIndex : begin;
  if (placeholderEnd(text, start) >= 0 || isReference(text, start)) return undefined;
  // Digests and signatures hold quoted parts: to the end of the line.
  const hasParts = hasScheme && /^(?:digest|hawk|aws4)/i.test(text.slice(begin, begin + 6));
  const end = quotedTo ?? (hasScheme ? lineEnd(text, start, hasParts) : bareEnd(text, start));
  if (end - start < 3) return undefined;
  const isWord = end - start <= MAX_NAME_CHARS && /^[A-Za-z]+$/.test(text.slice(start, end));
  if (isWord && !hasScheme && quotedTo === undefined) return undefined;
  const rule = /^basic /i.test(text.slice(begin, begin + 6)) ? 'basic-auth' : 'bearer-token';
  return { start, end, rule };
}
