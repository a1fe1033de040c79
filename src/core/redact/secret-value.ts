import { hasDigit } from './char-class.ts';
import { isSecretWord, nameStrength, type NameStrength } from './secret-names.ts';

/** Length from which a value without spaces is always a secret. This bounds the text that is read. */
const MAX_CHECKED_CHARS = 256;

export interface Standing {
  /** The separator between name and value: `' '` after an option, `'>'` in an element, `','` in a list, a table or a call. */
  readonly separator: ':' | '=' | ' ' | '>' | ',';
  /** True if there is only the separator between name and value. */
  readonly tight: boolean;
  readonly upper: boolean;
  readonly opensLine: boolean;
  readonly strength: NameStrength;
  readonly isOption?: boolean;
}

export function isQuote(unit: number): boolean {
  return unit === 34 || unit === 39 || unit === 96;
}

/** The end of a quoted value: the next such quote with at most as many backslashes; otherwise the end of the line. */
export function quotedEnd(
  text: string,
  start: number,
  backslashes: number,
  quote: number = text.charCodeAt(start - 1),
): number {
  let run = 0;
  let line = -1;
  for (let position = start; position < text.length; position += 1) {
    const unit = text.charCodeAt(position);
    if (unit === quote && run <= backslashes) return position - run;
    if (unit === 10 && line < 0) line = position;
    run = unit === 92 ? run + 1 : 0;
  }
  return line < 0 ? text.length : line;
}

/** Returns the end of an unquoted value. In an `.env` line, it ends at the next space, otherwise at a delimiter. */
export function bareEnd(text: string, start: number, wholeLine = false): number {
  let position = start;
  for (; position < text.length; position += 1) {
    const unit = text.charCodeAt(position);
    if (unit <= 32 || unit === 34 || unit === 39 || unit === 96) break;
    if (unit === 91 && placeholderEnd(text, position) >= 0) break;
    if (unit === 92 && (position + 1 === text.length || 'nrt"\'\\`'.includes(text.charAt(position + 1)))) break;
    // A password may begin with a delimiter.
    if (!wholeLine && position > start && ',;&)}]<>|'.includes(text.charAt(position))) break;
  }
  return position;
}

export function lineEnd(text: string, start: number, mayQuote = false): number {
  let position = start;
  for (; position < text.length; position += 1) {
    const unit = text.charCodeAt(position);
    if (unit === 10 || unit === 13 || (!mayQuote && isQuote(unit))) break;
    if (unit === 92 && (mayQuote ? 'n' : 'nrt"\'\\').includes(text.charAt(position + 1))) break;
  }
  return position;
}

/** The context of a value in a call, a list, a table, an element, or after an option. */
export const CALL = { separator: ',', tight: true, upper: false, opensLine: false } as const;

const NO_VALUE =
  /^(?:true|false|null|nil|none|undefined|nan|yes|no|on|off|string|str|text|number|int|integer|bool|boolean|any|u?int\d{0,2}(?:clamped)?(?:array)?|bigint|float\d{0,2}(?:array)?|buffer|bytearray|cryptokey|keyobject|secretkey|omit|include|same-origin|use-credentials|object|unknown|never|void|bytes|optional|required|missing|empty|invalid|incorrect|expired|wrong|default|hidden|redacted|masked|secret|password|changeme|todo|passed|failed|skipped|success|[~^]?\d+\.\d+\.\d+)$/i;
const PROSE = /\s(?:the|to|used|your|is|are|for|a|an|of|in|must|not|and|or|with|has|at)\s/i;
/** Counts, times and shares: values of names that also count (`pass`, `tokens`). */
const COUNT = /^[+-]?\d{1,9}(?:[.,]\d{1,6})?(?:ms|s|m|h|%|k|x|\/\d{1,9})?$/i;

export function isNoValue(value: string, strength: NameStrength): boolean {
  return NO_VALUE.test(value) || (strength === 'weak' && COUNT.test(value));
}

interface NamedValue extends Standing {
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
}

export function isSecretValue(text: string, value: NamedValue): boolean {
  const { start, end, strength, separator } = value;
  const length = end - start;
  if (length < 3) return false;
  const head = text.slice(start, Math.min(end, start + MAX_CHECKED_CHARS));
  if (isNoValue(head, strength)) return false;
  const digit = hasDigit(text, start, Math.min(end, start + MAX_CHECKED_CHARS));
  const isLine = value.upper && value.tight && separator === '=';
  const isNameAgain = isName(head, isLine || value.isOption === true);
  if (separator === ',' || separator === '>')
    return length >= 6 && !isNameAgain && !/[\s{}]/.test(head) && (digit || /[^\w./-]/.test(head));
  // A quote that ends a text: `print("password: ");`
  if (value.quoted)
    return (
      !/^[),;\]}]/.test(head) && (strength === 'strong' ? !PROSE.test(head) : digit && length >= 6 && !/\s/.test(head))
    );
  if (',;&)}]>|'.includes(head.charAt(0))) return false;
  if (length >= MAX_CHECKED_CHARS) return true;
  // A call, an index, or the type of a declaration.
  if (text[end] === '(' || /(?!^)[([{]/.test(head) || head.startsWith('/') || /^[.~]{1,2}\//.test(head))
    return isLine && /^[^/.~([{]/.test(head) && digit;
  if ('([{<'.includes(head.charAt(0)) && !(isLine && digit)) return false;
  const isPath = length < 40 && /^[A-Za-z_][\w.?]*$/.test(head) && /[A-Za-z_?]\.[A-Za-z_]/.test(head);
  if (isNameAgain || isPath) return false;
  if (isLine) return length >= 4;
  // `--password=…`, `?token=…`: not the placeholder of a page of help.
  if (value.isOption === true) return length >= (strength === 'strong' ? 4 : 8) && !/^[A-Z][A-Z_-]*$/.test(head);
  if (strength === 'weak') return digit && length >= 8 && !/^\d{1,9}$/.test(head);
  if (separator === ' ') return digit || /[^A-Za-z]/.test(head);
  if (value.opensLine && endsLine(text, end) && (separator === ':' || value.tight)) return length >= 4;
  return length >= 4 && (digit || /[^A-Za-z0-9_./-]/.test(head));
}

/** Returns true for a name in place of a value: `token: accessToken`. A lower-case word after `NAME=` only if it is such a word itself. */
function isName(value: string, isOneWord: boolean): boolean {
  const name = value.replace(/\d$/, '');
  if (nameStrength(name) === 'none') return false;
  return !isOneWord || !/^[a-z]+$/.test(name) || isSecretWord(name);
}

function endsLine(text: string, end: number): boolean {
  const unit = text[end];
  return unit === undefined || unit === '\n' || unit === '\r' || unit === '\\';
}

/** A complete variable, template or mask: a password may begin with the same characters. */
const REFERENCE =
  /\$(?:[A-Z_][A-Z0-9_]*|[a-z_][A-Za-z_]*\d?|\d)(?![^\s"'`,;&)}\]\\|:/@]|[:@/]\w*\d)|\$\w{1,64}(?:->|\.\w|\[|::)|\$[{(]|<[^<>\n]{0,60}>|\{\{|\{[\w.]{0,40}\}|%[\w-]{1,40}%|%[sdvqr](?!\w)|%[({]|(?:\*+|[xX]+|\.+|\u2022+)(?=[\s"'`,;&)}\]\\]|$)/y;

export function isReference(text: string, start: number): boolean {
  if (!'$<{%*xX.\u2022'.includes(text.charAt(start) || ' ')) return false;
  REFERENCE.lastIndex = start;
  return REFERENCE.test(text);
}

export interface SecretSpan {
  readonly start: number;
  readonly end: number;
  readonly rule: string;
}

export type Fingerprint = (secret: string) => string;

/** The replacement of a secret: `[REDACTED:rule]`, or with a fingerprint `[REDACTED:rule:letters]`. */
export function placeholderOf(rule: string, fingerprint = ''): string {
  return fingerprint === '' ? `[REDACTED:${rule}]` : `[REDACTED:${rule}:${fingerprint}]`;
}

const PLACEHOLDER = /\[REDACTED:[a-z0-9-]{1,40}(?::[a-z]{1,20})?\]/y;

export function placeholderEnd(text: string, position: number): number {
  if (text.charCodeAt(position) !== 91 || text.charCodeAt(position + 1) !== 82) return -1;
  PLACEHOLDER.lastIndex = position;
  return PLACEHOLDER.test(text) ? PLACEHOLDER.lastIndex : -1;
}

export function isPlaceholder(text: string): boolean {
  return /^(?:[A-Za-z][A-Za-z0-9-]{0,30} )?\[REDACTED:[a-z0-9-]{1,40}(?::[a-z]{1,20})?\]$/.test(text);
}
