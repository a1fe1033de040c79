import { ALNUM, DASH, DOT, hasDigit, isOf, runEnd, runStart, UNDERSCORE } from './char-class.ts';
import { MAX_NAME_CHARS, nameStrength, type NameStrength } from './secret-names.ts';
import { placeholderEnd, type SecretSpan } from './secret-span.ts';

const NAME = ALNUM | UNDERSCORE | DASH | DOT;
/** Deepest escaping of a quotation mark that is understood: JSON in JSON in JSON in JSON. */
const MAX_BACKSLASHES = 16;
const MAX_BLANKS = 64;
/** A value without blanks from this length on is one whatever it looks like; it bounds what is read in vain. */
const SURELY_CHARS = 256;

/** A value and how it stands in the text. */
interface NamedValue {
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
  /** The separator, the way of writing, and what the name promises. */
  readonly separator: ':' | '=' | ' ';
  readonly tight: boolean;
  readonly upper: boolean;
  readonly opensLine: boolean;
  readonly strength: NameStrength;
}

/**
 * The value that the `:` or `=` at `at` gives to a name that a secret would have: `.env` lines, JSON members also in
 * escaped JSON, YAML, headers, query parameters, keyword arguments.
 *
 * @param done  nothing before it is looked at
 */
export function findAssigned(text: string, at: number, done: number): SecretSpan | undefined {
  const nameEnd = nameEndBefore(text, at, done);
  if (nameEnd - done < 3) return undefined;
  const nameStart = runStart(text, nameEnd, NAME, Math.max(done, nameEnd - MAX_NAME_CHARS - 1));
  const name = withoutEscape(text, nameStart, nameEnd);
  const strength = nameStrength(name);
  if (strength === 'none') return undefined;
  const mark = text.charAt(at) === ':' ? ':' : '=';
  // `==`, `::`, `:=` and `=>`: only the last two give a value.
  const next = text.charAt(at + 1);
  if (next === mark || (next === '=' && mark === ':' && text.charAt(at + 2) === '=')) return undefined;
  if (mark === '=' && '=!<>~+'.includes(text.charAt(at - 1) || ' ')) return undefined;
  const after = next === '>' || next === '=' ? at + 2 : at + 1;
  const begin = skipBlanks(text, after);
  const nameBegin = nameEnd - name.length;
  return readValue(text, begin, {
    separator: mark,
    tight: nameEnd === at && begin === after,
    upper: name === name.toUpperCase(),
    opensLine: opensLine(text, nameBegin),
    strength,
  });
}

/** The value after an option of a command line: `--password VALUE`. */
export function findOption(text: string, at: number): SecretSpan | undefined {
  const nameEnd = runEnd(text, at + 2, ALNUM | UNDERSCORE | DASH, at + 2 + MAX_NAME_CHARS);
  if (text[nameEnd] !== ' ') return undefined;
  const strength = nameStrength(text.slice(at + 2, nameEnd));
  if (strength !== 'strong' && strength !== 'weak') return undefined;
  const begin = skipBlanks(text, nameEnd);
  if (text[begin] === '-') return undefined;
  return readValue(text, begin, { separator: ' ', tight: false, upper: false, opensLine: false, strength });
}

const USER_OPTION = /-(?:u|-user|-proxy-user)[ =]["']?[A-Za-z0-9_.@-]{1,64}:/y;

/** The password of `curl -u user:password`. */
export function findUserOption(text: string, at: number): SecretSpan | undefined {
  USER_OPTION.lastIndex = at;
  if (!USER_OPTION.test(text)) return undefined;
  const start = USER_OPTION.lastIndex;
  if (isReference(text, start)) return undefined;
  const end = bareEnd(text, start);
  return end - start < 3 ? undefined : { start, end, rule: 'basic-auth' };
}

/** Where the name before a separator ends: before blanks, a closing quotation mark, its backslashes, a bracket. */
function nameEndBefore(text: string, at: number, done: number): number {
  let end = at;
  const limit = Math.max(done, at - MAX_BACKSLASHES - 8);
  // Blanks and `]`.
  while (end > limit && (text.charCodeAt(end - 1) === 32 || text.charCodeAt(end - 1) === 93)) end -= 1;
  if (end > limit && isQuote(text.charCodeAt(end - 1))) {
    end -= 1;
    while (end > limit && text.charCodeAt(end - 1) === 92) end -= 1;
  }
  return end;
}

function isQuote(unit: number): boolean {
  return unit === 34 || unit === 39 || unit === 96;
}

/** The name without the letter of an escape before it: `\nTOKEN` is `TOKEN`. */
function withoutEscape(text: string, start: number, end: number): string {
  const isEscape = text[start - 1] === '\\' && 'nrt'.includes(text[start] ?? ' ');
  return text.slice(isEscape ? start + 1 : start, end);
}

function opensLine(text: string, start: number): boolean {
  let at = start;
  if ('"\''.includes(text[at - 1] ?? ' ')) at -= 1;
  while (at > 0 && start - at < MAX_BLANKS && (text[at - 1] === ' ' || text[at - 1] === '\t' || text[at - 1] === '-')) {
    at -= 1;
  }
  if (at === 0 || text[at - 1] === '\n') return true;
  if (text[at - 1] === 'n' && text[at - 2] === '\\') return true;
  return /(?:export|set|env|declare -x|ENV|ARG)$/.test(text.slice(Math.max(0, at - 12), at));
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  const limit = from + MAX_BLANKS;
  while (at < limit && (text[at] === ' ' || text[at] === '\t')) at += 1;
  return at;
}

function readValue(
  text: string,
  begin: number,
  how: Omit<NamedValue, 'start' | 'end' | 'quoted'>,
): SecretSpan | undefined {
  let at = begin;
  while (text[at] === '\\' && at - begin < MAX_BACKSLASHES) at += 1;
  const quoted = isQuote(text.charCodeAt(at));
  if (!quoted && at > begin) return undefined;
  const start = quoted ? at + 1 : begin;
  // Before its end is looked for: what is refused must not be read to its end each time.
  if (placeholderEnd(text, start) >= 0 || isReference(text, start)) return undefined;
  if (how.strength === 'cookie')
    return cookieSpan(text, start, quoted ? quotedEnd(text, start, at - begin) : undefined);
  if (how.strength === 'set-cookie') return setCookieSpan(text, start);
  if (how.strength === 'authorization') {
    return authorizationSpan(text, start, quoted ? quotedEnd(text, start, at - begin) : undefined);
  }
  const end = quoted ? quotedEnd(text, start, at - begin) : bareEnd(text, start, how.upper && how.opensLine);
  const value = { ...how, start, end, quoted };
  return isSecretValue(text, value) ? { start, end, rule: 'named-secret' } : undefined;
}

/** The end of a quoted value: the next such mark with as many backslashes, or fewer; else the end of the line. */
function quotedEnd(text: string, start: number, backslashes: number): number {
  const quote = text.charCodeAt(start - 1);
  let run = 0;
  let line = -1;
  for (let at = start; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quote && run <= backslashes) return at - run;
    if (unit === 10 && line < 0) line = at;
    run = unit === 92 ? run + 1 : 0;
  }
  return line < 0 ? text.length : line;
}

/** The end of a value without quotation marks. In an `.env` line it reaches to the next blank, else to a delimiter. */
function bareEnd(text: string, start: number, wholeLine = false): number {
  let at = start;
  for (; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit <= 32 || unit === 34 || unit === 39 || unit === 96) break;
    if (unit === 91 && placeholderEnd(text, at) >= 0) break;
    if (unit === 92 && (at + 1 === text.length || 'nrt"\'\\`'.includes(text.charAt(at + 1)))) break;
    if (!wholeLine && ',;&)}]<>|'.includes(text.charAt(at))) break;
  }
  return at;
}

/** Words that stand where a value would: kinds, absences, descriptions. */
const NO_VALUE =
  /^(?:true|false|null|nil|none|undefined|nan|yes|no|on|off|string|str|text|number|int|integer|bool|boolean|any|object|unknown|never|void|bytes|optional|required|missing|empty|invalid|incorrect|expired|wrong|default|hidden|redacted|masked|secret|password|changeme|todo|[~^]?\d+\.\d+\.\d+)$/i;

function isSecretValue(text: string, value: NamedValue): boolean {
  const { start, end } = value;
  const length = end - start;
  if (length < 3) return false;
  const head = text.slice(start, Math.min(end, start + SURELY_CHARS));
  if (NO_VALUE.test(head)) return false;
  // A quotation mark that ends a text: `print("password: ");`
  if (value.quoted) return !/^[),;\]}]/.test(head) && (value.strength === 'strong' || !/\s/.test(head));
  if (length >= SURELY_CHARS) return true;
  // A call, an index, or the type of a declaration.
  if (text[end] === '(' || /[([{]/.test(head) || head.startsWith('/') || /^[.~]{1,2}\//.test(head)) return false;
  const digit = hasDigit(text, start, end);
  const isNameAgain = nameStrength(head.replace(/\d{1,3}$/, '')) !== 'none';
  const isPath = length < 40 && /^[A-Za-z_][\w.?]*$/.test(head) && /[A-Za-z_?]\.[A-Za-z_]/.test(head);
  if (isNameAgain || isPath) return false;
  if (value.upper && value.tight && value.separator === '=') return length >= 4;
  if (value.strength === 'weak') return digit && length >= 8 && !/^\d{1,9}$/.test(head);
  if (value.separator === ' ') return digit || /[^A-Za-z]/.test(head);
  if (value.opensLine && endsLine(text, end) && (value.separator === ':' || value.tight)) return length >= 4;
  return length >= 4 && (digit || /[^A-Za-z0-9_./-]/.test(head));
}

function endsLine(text: string, end: number): boolean {
  const unit = text[end];
  return unit === undefined || unit === '\n' || unit === '\r' || unit === '\\';
}

/** A variable, a template or a mask stands where the secret would. */
function isReference(text: string, start: number): boolean {
  const first = text[start] ?? '';
  if (first === '<' || first === '{' || first === '%') return true;
  if (first === '$') return isOf(text, start + 1, ALNUM | UNDERSCORE) || '{('.includes(text[start + 1] ?? ' ');
  if (first !== '*' && first !== 'x' && first !== '.') return false;
  return /^(?:\*+|[xX]+|\.+)(?:[\s"'`,;&)}\]\\]|$)/.test(text.slice(start, start + MAX_NAME_CHARS));
}

/** All of a `Cookie` header; a value without `=` is none. */
function cookieSpan(text: string, start: number, quotedTo: number | undefined): SecretSpan | undefined {
  const equals = text.slice(start, start + MAX_NAME_CHARS).indexOf('=');
  if (equals < 1) return undefined;
  const end = quotedTo ?? lineEnd(text, start);
  return end - start <= equals || text.slice(start, start + equals).includes('\n')
    ? undefined
    : { start, end, rule: 'cookie' };
}

const COOKIE_NAME = /[A-Za-z0-9_.!#$%&*+^|~-]{1,64}=/y;

/** The value of a `Set-Cookie` header; its name and attributes stay. */
function setCookieSpan(text: string, begin: number): SecretSpan | undefined {
  COOKIE_NAME.lastIndex = begin;
  if (!COOKIE_NAME.test(text)) return undefined;
  const start = COOKIE_NAME.lastIndex;
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
  const hasParts = hasScheme && /^(?:digest|hawk|aws4)/i.test(text.slice(begin, begin + 6));
  const end = quotedTo ?? (hasParts ? partsEnd(text, start) : hasScheme ? lineEnd(text, start) : bareEnd(text, start));
  if (end - start < 3) return undefined;
  const isWord = end - start <= MAX_NAME_CHARS && /^[A-Za-z]+$/.test(text.slice(start, end));
  if (isWord && !hasScheme && quotedTo === undefined) return undefined;
  const rule = /^basic /i.test(text.slice(begin, begin + 6)) ? 'basic-auth' : 'bearer-token';
  return { start, end, rule };
}

/** Digests and signatures hold quoted parts: to the end of the line. */
function partsEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) !== 10 && !(text.charCodeAt(at) === 92 && text[at + 1] === 'n'))
    at += 1;
  return at;
}

function lineEnd(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 10 || unit === 13 || unit === 34 || unit === 39 || unit === 96) break;
    if (unit === 92 && 'nrt"\'\\'.includes(text.charAt(at + 1))) break;
  }
  return at;
}
