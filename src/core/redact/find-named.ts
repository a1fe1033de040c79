import {
  placeholderEnd,
  type SecretSpan,
  bareEnd,
  CALL,
  isQuote,
  isReference,
  isSecretValue,
  lineEnd,
  quotedEnd,
  type Standing,
} from './secret-value.ts';
import { ALNUM, DASH, isOf, runEnd, runStart, UNDERSCORE } from './char-class.ts';
import { skipLineHead } from './secret-rules.ts';
import { endsLikeName, MAX_NAME_CHARS, NAME_UNITS, nameStrength, type NameStrength } from './secret-names.ts';

const MAX_SEPARATORS = 24;
const MAX_BLANKS = 64;
const MAX_LINE_CHARS = 240;

/** A secret that the preceding name, option or tag identifies. `position` is a mark; text before `done` is ignored. */
export function findNamed(text: string, position: number, done: number): SecretSpan | undefined {
  switch (text.charAt(position)) {
    case ':':
    case '=':
      return findAssigned(text, position, done);
    case '-':
      return findOption(text, position, done);
    case '>':
      return findElement(text, position, done);
    case '<':
      return findNextElement(text, position, done);
    case ',':
    case '(':
    case '|':
      return findBeside(text, position, done);
    default:
      return undefined;
  }
}

/** `.env` lines, members of JSON and escaped JSON, YAML, headers, query parameters, keyword arguments, name-value pairs. */
function findAssigned(text: string, position: number, done: number): SecretSpan | undefined {
  const nameEnd = nameEndBefore(text, position, done);
  if (nameEnd - done < 3 || !endsLikeName(text, nameEnd)) return undefined;
  const nameStart = runStart(text, nameEnd, NAME_UNITS, Math.max(done, nameEnd - MAX_NAME_CHARS - 1));
  const name = withoutEscape(text, nameStart, nameEnd);
  const mark = text.charAt(position) === ':' ? ':' : '=';
  // Of `==`, `::`, `:=` and `=>`, only the last two assign a value.
  const next = text.charAt(position + 1);
  if (next === mark || (next === '=' && mark === ':' && text.charAt(position + 2) === '=')) return undefined;
  if (mark === '=' && '=!<>~+'.includes(text.charAt(position - 1) || ' ')) return undefined;
  const afterArrow = next === '>' || next === '=' ? position + 2 : position + 1;
  const valueStart = skipBlanks(text, afterArrow);
  const strength = nameStrength(name);
  // `PASS: TestName`, `pass: 12`: test results.
  if (mark === ':' && /^pass$/i.test(name) && !isQuote(text.charCodeAt(valueStart))) return undefined;
  if (strength === 'none') return isPairName(name) ? findPair(text, valueStart) : undefined;
  return readValue(text, valueStart, {
    separator: mark,
    tight: nameEnd === position && valueStart === afterArrow,
    upper: name === name.toUpperCase(),
    opensLine: opensLine(text, nameEnd - name.length),
    isOption: mark === '=' && opensOption(text, nameEnd - name.length),
    strength,
  });
}

/** `--NAME=`, `?NAME=`, `&NAME=`. */
function opensOption(text: string, start: number): boolean {
  const mark = text[start - 1];
  return mark === '?' || mark === '&' || text.startsWith('--', start) || (mark === '-' && text[start - 2] === '-');
}

function isPairName(name: string): boolean {
  return /(?:^|[a-z_.-])(?:name|key|variable|header)$/i.test(name);
}

const PAIR_NAME = /\\{0,8}["'`]?([\w.:/-]{3,64})\\{0,8}["'`]?/y;
const PAIR_VALUE =
  /[\s,;]{0,40}(?:\\[nr]\s{0,40})?(?:[\w-]{1,20}\\{0,8}["']?\s{0,2}[:=]\s{0,2}\\{0,8}["'][^"'<>{}\n]{0,60}["'][\s,]{1,8}){0,2}\\{0,8}["']?(?:parameter_?|plain)?value\\{0,8}["']?\s{0,4}(?:[:=]|=>)\s{0,8}/iy;

/** `{"Key": "DB_PASSWORD", "Value": "…"}`, `<add key="ApiKey" value="…"/>`, `- name: TOKEN\n  value: …`, after the first separator. */
function findPair(text: string, valueStart: number): SecretSpan | undefined {
  PAIR_NAME.lastIndex = valueStart;
  const name = PAIR_NAME.exec(text)?.[1];
  if (name === undefined) return undefined;
  const strength = nameStrength(name);
  if (strength !== 'strong' && strength !== 'weak') return findAttributeText(text, PAIR_NAME.lastIndex, strength);
  PAIR_VALUE.lastIndex = PAIR_NAME.lastIndex;
  if (!PAIR_VALUE.test(text)) return undefined;
  return readValue(text, PAIR_VALUE.lastIndex, {
    separator: '=',
    tight: true,
    upper: name === name.toUpperCase(),
    opensLine: true,
    strength,
  });
}

/** A pair whose name is a header. */
function findAttributeText(text: string, position: number, strength: NameStrength): SecretSpan | undefined {
  if (strength !== 'authorization' && strength !== 'cookie') return undefined;
  PAIR_VALUE.lastIndex = position;
  if (!PAIR_VALUE.test(text)) return undefined;
  return readValue(text, PAIR_VALUE.lastIndex, {
    separator: ':',
    tight: true,
    upper: false,
    opensLine: true,
    strength,
  });
}

/** `("password", "…")`, `setPassword("…")`, `| password | … |`. */
function findBeside(text: string, position: number, done: number): SecretSpan | undefined {
  const nameEnd = nameEndBefore(text, position, done);
  if (nameEnd - done < 3 || !endsLikeName(text, nameEnd)) return undefined;
  const mark = text.charAt(position);
  if (
    mark === ','
      ? !isQuote(text.charCodeAt(position - 1))
      : mark === '|' && (text[position + 1] !== ' ' || /["']\s?$/.test(text.slice(position - 2, position)))
  )
    return undefined;
  const name = text.slice(runStart(text, nameEnd, NAME_UNITS, Math.max(done, nameEnd - MAX_NAME_CHARS - 1)), nameEnd);
  const strength = nameStrength(name);
  if (strength !== 'strong' && strength !== 'weak') return undefined;
  let valueStart = skipBlanks(text, position + 1);
  if (mark === '|' && text[valueStart] === '`') valueStart += 1;
  else if (mark !== '|' && !isQuote(text.charCodeAt(valueStart + countBackslashes(text, valueStart)))) return undefined;
  return readValue(text, valueStart, { ...CALL, strength });
}

/** The end of the name before a separator, without blanks, a closing quote, its backslashes and a bracket. */
function nameEndBefore(text: string, position: number, done: number): number {
  const limit = Math.max(done, position - MAX_SEPARATORS);
  let end = position;
  for (; end > limit; end -= 1) {
    const unit = text.charCodeAt(end - 1);
    // A blank, `]`, a backslash, an asterisk, a quote.
    if (unit !== 32 && unit !== 93 && unit !== 92 && unit !== 42 && !isQuote(unit)) break;
  }
  return end;
}

/** Returns the name without the letter of an escape before it: `\nTOKEN` is `TOKEN`. */
function withoutEscape(text: string, start: number, end: number): string {
  const isEscape = text[start - 1] === '\\' && 'nrt'.includes(text[start] ?? ' ');
  return text.slice(isEscape ? start + 1 : start, end);
}

function opensLine(text: string, start: number): boolean {
  let position = start;
  if ('"\''.includes(text[position - 1] ?? ' ')) position -= 1;
  while (
    position > 0 &&
    start - position < MAX_BLANKS &&
    (text[position - 1] === ' ' || text[position - 1] === '\t' || text[position - 1] === '-')
  ) {
    position -= 1;
  }
  if (position === 0 || text[position - 1] === '\n') return true;
  if (text[position - 1] === 'n' && text[position - 2] === '\\') return true;
  if (/(?:export|set|env|declare -x|ENV|ARG)$/.test(text.slice(Math.max(0, position - 12), position))) return true;
  const lineBefore = text.slice(Math.max(0, position - MAX_LINE_CHARS), position);
  const line = lineBefore.lastIndexOf('\n') + 1;
  return (line > 0 || lineBefore.length < MAX_LINE_CHARS) && skipLineHead(lineBefore, line) >= lineBefore.length;
}

const ELEMENT = /<(?:[\w-]{1,40}:)?([\w.-]{2,64})((?:\s[^<>]{0,300})?)$/;
const ATTRIBUTE = /(?:name|key|id)\s{0,2}=\s{0,2}\\{0,8}["']([\w.:/-]{3,64})\\{0,8}["']/i;

/** `<password>…</password>`, `<string name="api_key">…</string>`. */
function findElement(text: string, position: number, done: number): SecretSpan | undefined {
  const unitBefore = text.charCodeAt(position - 1);
  if (!isQuote(unitBefore) && !isOf(text, position - 1, ALNUM)) return undefined;
  const textBefore = text.slice(Math.max(done, position - 400), position);
  const open = textBefore.lastIndexOf('<');
  if (open < 0) return undefined;
  const [, tag = '', attributes = ''] = ELEMENT.exec(textBefore.slice(open)) ?? [];
  const attribute = ATTRIBUTE.exec(attributes)?.[1] ?? '';
  const strength = [nameStrength(tag), nameStrength(attribute)].find((one) => one === 'strong' || one === 'weak');
  return strength === undefined ? undefined : elementValue(text, position + 1, strength);
}

const NEXT_ELEMENT = /<\/[\w:-]{1,40}>\s{0,40}<[\w:-]{1,40}(?:\s[^<>]{0,100})?>/y;

/** `<key>Password</key><string>…</string>`, `<td>password</td><td>…</td>`. */
function findNextElement(text: string, position: number, done: number): SecretSpan | undefined {
  if (!endsLikeName(text, position)) return undefined;
  const nameStart = runStart(text, position, NAME_UNITS, Math.max(done, position - MAX_NAME_CHARS - 1));
  const strength = nameStrength(text.slice(nameStart, position));
  if (text[nameStart - 1] !== '>' || (strength !== 'strong' && strength !== 'weak')) return undefined;
  NEXT_ELEMENT.lastIndex = position;
  return NEXT_ELEMENT.test(text) ? elementValue(text, NEXT_ELEMENT.lastIndex, strength) : undefined;
}

const ELEMENT_VALUE = /\s{0,40}(?:<!\[CDATA\[)?([^<>\s]{3,2000})(?=(?:\]\]>)?\s{0,40}<\/)/y;

function elementValue(text: string, startIndex: number, strength: NameStrength): SecretSpan | undefined {
  ELEMENT_VALUE.lastIndex = startIndex;
  const value = ELEMENT_VALUE.exec(text)?.[1]?.replace(/\]\]$/, '');
  if (value === undefined) return undefined;
  const start = text.indexOf(value, startIndex);
  const end = start + value.length;
  if (placeholderEnd(text, start) >= 0 || isReference(text, start)) return undefined;
  const standingOf = { ...CALL, separator: '>', strength } as const;
  return isSecretValue(text, { ...standingOf, start, end, quoted: true })
    ? { start, end, rule: 'named-secret' }
    : undefined;
}

/** The end of an item of a list of quoted words, and the begin of the next one. */
const NEXT_ITEM = String.raw`\\{0,8}["'],(?:\s|\\{1,8}[nr]){0,40}(?=\\{0,8}["'])`;
const nextItem = new RegExp(NEXT_ITEM, 'y');

/** Matches the text before an option of one of these programs, in a command or a list of its words. */
function optionsOf(programs: string): RegExp {
  const words = String.raw`\\{0,8}["']?[\s,](?:[^\n;&|]{0,160}(?:[\s,]|\\[nr]))?`;
  return new RegExp(String.raw`(?:^|[\s"'\x60;&|(/=])(?:${programs})${words}\\{0,8}["'\x60]?$`);
}

/** Programs with a short option for a password, by option. */
const SHORT_OPTIONS: Readonly<Record<string, RegExp>> = {
  p: optionsOf(
    String.raw`mysql\w*|mysql-\w+|mariadb[\w-]*|mycli|sshpass|mongo\w*|cqlsh|clickhouse-client|(?:docker|podman|nerdctl|buildah|crane|helm|oras|az|oc|vault)\b[^\n;&|]{0,60}[\s"']login|7z|htpasswd`,
  ),
  P: optionsOf('sqlcmd|bcp|zip|unzip|isql|tsql|ipmitool|net-snmp'),
  a: optionsOf('redis-cli|valkey-cli|keydb-cli|redis-benchmark|iredis'),
  w: optionsOf(String.raw`ldap\w+|rabbitmq\w*|ipmi\w+`),
  k: optionsOf('openssl'),
};
/** Maximum number of characters between a program and its short option. */
const MAX_COMMAND_CHARS = 240;
const BEFORE_VALUE = String.raw`(?:[ =]|${NEXT_ITEM})(?<open>\\{0,8}["'])?`;
const USER_OPTION = new RegExp(
  String.raw`-(?:u|-user|-proxy-user|-creds|U)${BEFORE_VALUE}[A-Za-z0-9_.@\\-]{1,64}[:%]`,
  'y',
);
const PASS_OPTION = new RegExp(`-{1,2}pass(?:in|out)?${BEFORE_VALUE}pass:`, 'y');

/** The end of a value that begins at `start`. `open`: the quote before it with its backslashes, or empty. */
function valueEnd(text: string, start: number, open: string): number {
  return open === '' ? bareEnd(text, start) : quotedEnd(text, start, open.length - 1, open.charCodeAt(open.length - 1));
}

/** `--password VALUE`, `-storepass VALUE`, `curl -u user:VALUE`, `mysql -pVALUE`, `redis-cli -a VALUE`. */
function findOption(text: string, position: number, done: number): SecretSpan | undefined {
  const next = text.charAt(position + 1);
  for (const [option, rule] of [
    [USER_OPTION, 'basic-auth'],
    [PASS_OPTION, 'named-secret'],
  ] as const) {
    if (!'uUp-'.includes(next)) break;
    option.lastIndex = position;
    const match = option.exec(text);
    if (match === null) continue;
    const start = option.lastIndex;
    const end = valueEnd(text, start, match.groups?.['open'] ?? '');
    if (
      end - start >= 3 &&
      !isReference(text, start) &&
      placeholderEnd(text, start) < 0 &&
      !text.startsWith('//', start)
    )
      return { start, end, rule };
  }
  const isLong = next === '-';
  if (isLong || isOf(text, position + 2, ALNUM)) {
    const nameStart = isLong ? position + 2 : position + 1;
    const nameEnd = runEnd(text, nameStart, ALNUM | UNDERSCORE | DASH, nameStart + MAX_NAME_CHARS);
    nextItem.lastIndex = nameEnd;
    const isItem = nextItem.test(text);
    if ((isItem || text[nameEnd] === ' ') && endsLikeName(text, nameEnd)) {
      const strength = nameStrength(text.slice(nameStart, nameEnd));
      const valueStart = isItem ? nextItem.lastIndex : skipBlanks(text, nameEnd);
      const span =
        (strength === 'strong' || strength === 'weak') && text[valueStart] !== '-'
          ? readValue(text, valueStart, { ...CALL, separator: isItem ? ',' : ' ', strength })
          : undefined;
      if (span !== undefined) return span;
    }
  }
  const programs = Object.hasOwn(SHORT_OPTIONS, next) ? SHORT_OPTIONS[next] : undefined;
  if (programs === undefined || !programs.test(text.slice(Math.max(done, position - MAX_COMMAND_CHARS), position)))
    return undefined;
  nextItem.lastIndex = position + 2;
  const valueStart = nextItem.test(text) ? nextItem.lastIndex : skipBlanks(text, position + 2);
  const isMysql =
    next === 'p' && /mysql|mariadb/.test(text.slice(Math.max(done, position - MAX_COMMAND_CHARS), position));
  if (isMysql) {
    // `-p` without a value prompts for the password.
    if (valueStart > position + 2) return undefined;
    const open = /\\{0,8}["']$/.exec(text.slice(Math.max(0, position - 9), position))?.[0] ?? '';
    const end = valueEnd(text, valueStart, open);
    const isValue = end - valueStart >= 3 && !isReference(text, valueStart) && placeholderEnd(text, valueStart) < 0;
    return isValue && !isQuote(text.charCodeAt(valueStart))
      ? { start: valueStart, end, rule: 'named-secret' }
      : readValue(text, valueStart, { ...CALL, separator: ' ', strength: 'strong' });
  }
  if (text[valueStart] === '-') return undefined;
  return readValue(text, valueStart, { ...CALL, separator: ' ', strength: 'strong' });
}

/** Maximum number of backslashes before a quote. It covers JSON nested four times in JSON strings. */
const MAX_BACKSLASHES = 16;

/** The nesting between a secret's name and its value: a list, an object with one value member, a block, a YAML list. */
const NESTED =
  /(?:[{[]\s{0,40}|(?:[|>][-+]?)?[ \t]{0,8}(?:\r?\n|\\n)[ \t]{1,40}(?:- )?)(?:\\{0,8}["'`]?(?:value|current|plain|plaintext|secret|secretString|data|raw|text|content|default|password|token|key)\\{0,8}["'`]?\s{0,4}(?:[:=]|=>)\s{0,8})?/iy;

function nestedBegin(text: string, valueStart: number): number {
  if (!'{[|>\n\r\\'.includes(text.charAt(valueStart) || ' ')) return valueStart;
  NESTED.lastIndex = valueStart;
  if (!NESTED.test(text)) return valueStart;
  const opening = text.slice(valueStart, NESTED.lastIndex);
  const isNamed = /[:=>]\s*$/.test(opening.slice(1));
  const isBlock = opening.startsWith('|') || opening.startsWith('>');
  return isNamed || isBlock || opening.startsWith('[') || opening.endsWith('- ') ? NESTED.lastIndex : valueStart;
}

function readValue(text: string, startIndex: number, standing: Standing): SecretSpan | undefined {
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

function skipBlanks(text: string, start: number): number {
  let position = start;
  const limit = start + MAX_BLANKS;
  while (position < limit && (text[position] === ' ' || text[position] === '\t')) position += 1;
  return position;
}

/** The number of backslashes at `start`, at most sixteen. */
function countBackslashes(text: string, start: number): number {
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
