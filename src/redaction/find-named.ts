import { ALNUM, DASH, isOf, runEnd, runStart, UNDERSCORE } from './char-class.ts';
import { skipLineHead } from './line-head.ts';
import { countBackslashes, readValue, skipBlanks } from './read-value.ts';
import { bareEnd, CALL, isQuote, isReference, isSecretValue } from './secret-value.ts';
import { endsLikeName, MAX_NAME_CHARS, NAME_UNITS, nameStrength, type NameStrength } from './secret-names.ts';
import { placeholderEnd, type SecretSpan } from './secret-span.ts';

const MAX_SEPARATORS = 24;
const MAX_BLANKS = 64;
/** Maximum number of characters between the start of a line and a name. */
const MAX_LINE_CHARS = 240;

/** A secret that the preceding name, option or tag identifies. `at` is a mark; text before `done` is ignored. */
export function findNamed(text: string, at: number, done: number): SecretSpan | undefined {
  switch (text.charAt(at)) {
    case ':':
    case '=':
      return findAssigned(text, at, done);
    case '-':
      return findOption(text, at, done);
    case '>':
      return findElement(text, at, done);
    case '<':
      return findNextElement(text, at, done);
    case ',':
    case '(':
    case '|':
      return findBeside(text, at, done);
    default:
      return undefined;
  }
}

/** `.env` lines, members of JSON and escaped JSON, YAML, headers, query parameters, keyword arguments, name-value pairs. */
function findAssigned(text: string, at: number, done: number): SecretSpan | undefined {
  const nameEnd = nameEndBefore(text, at, done);
  if (nameEnd - done < 3 || !endsLikeName(text, nameEnd)) return undefined;
  const nameStart = runStart(text, nameEnd, NAME_UNITS, Math.max(done, nameEnd - MAX_NAME_CHARS - 1));
  const name = withoutEscape(text, nameStart, nameEnd);
  const mark = text.charAt(at) === ':' ? ':' : '=';
  // Of `==`, `::`, `:=` and `=>`, only the last two assign a value.
  const next = text.charAt(at + 1);
  if (next === mark || (next === '=' && mark === ':' && text.charAt(at + 2) === '=')) return undefined;
  if (mark === '=' && '=!<>~+'.includes(text.charAt(at - 1) || ' ')) return undefined;
  const after = next === '>' || next === '=' ? at + 2 : at + 1;
  const begin = skipBlanks(text, after);
  const strength = nameStrength(name);
  // `PASS: TestName`, `pass: 12`: test results.
  if (mark === ':' && /^pass$/i.test(name) && !isQuote(text.charCodeAt(begin))) return undefined;
  if (strength === 'none') return isPairName(name) ? findPair(text, begin) : undefined;
  return readValue(text, begin, {
    separator: mark,
    tight: nameEnd === at && begin === after,
    upper: name === name.toUpperCase(),
    opensLine: opensLine(text, nameEnd - name.length),
    strength,
  });
}

function isPairName(name: string): boolean {
  return /(?:^|[a-z_.-])(?:name|key|variable|header)$/i.test(name);
}

const PAIR_NAME = /\\{0,8}["'`]?([\w.:/-]{3,64})\\{0,8}["'`]?/y;
const PAIR_VALUE =
  /[\s,;]{0,40}(?:\\[nr]\s{0,40})?(?:[\w-]{1,20}\\{0,8}["']?\s{0,2}[:=]\s{0,2}\\{0,8}["'][^"'<>{}\n]{0,60}["'][\s,]{1,8}){0,2}\\{0,8}["']?(?:parameter_?|plain)?value\\{0,8}["']?\s{0,4}(?:[:=]|=>)\s{0,8}/iy;

/** `{"Key": "DB_PASSWORD", "Value": "…"}`, `<add key="ApiKey" value="…"/>`, `- name: TOKEN\n  value: …`, after the first separator. */
function findPair(text: string, begin: number): SecretSpan | undefined {
  PAIR_NAME.lastIndex = begin;
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
function findAttributeText(text: string, at: number, strength: NameStrength): SecretSpan | undefined {
  if (strength !== 'authorization' && strength !== 'cookie') return undefined;
  PAIR_VALUE.lastIndex = at;
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
function findBeside(text: string, at: number, done: number): SecretSpan | undefined {
  const nameEnd = nameEndBefore(text, at, done);
  if (nameEnd - done < 3 || !endsLikeName(text, nameEnd)) return undefined;
  const mark = text.charAt(at);
  if (
    mark === ','
      ? !isQuote(text.charCodeAt(at - 1))
      : mark === '|' && (text[at + 1] !== ' ' || /["']\s?$/.test(text.slice(at - 2, at)))
  )
    return undefined;
  const name = text.slice(runStart(text, nameEnd, NAME_UNITS, Math.max(done, nameEnd - MAX_NAME_CHARS - 1)), nameEnd);
  const strength = nameStrength(name);
  if (strength !== 'strong' && strength !== 'weak') return undefined;
  let begin = skipBlanks(text, at + 1);
  if (mark === '|' && text[begin] === '`') begin += 1;
  else if (mark !== '|' && !isQuote(text.charCodeAt(begin + countBackslashes(text, begin)))) return undefined;
  return readValue(text, begin, { ...CALL, strength });
}

/** The end of the name before a separator, without blanks, a closing quote, its backslashes and a bracket. */
function nameEndBefore(text: string, at: number, done: number): number {
  const limit = Math.max(done, at - MAX_SEPARATORS);
  let end = at;
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
  let at = start;
  if ('"\''.includes(text[at - 1] ?? ' ')) at -= 1;
  while (at > 0 && start - at < MAX_BLANKS && (text[at - 1] === ' ' || text[at - 1] === '\t' || text[at - 1] === '-')) {
    at -= 1;
  }
  if (at === 0 || text[at - 1] === '\n') return true;
  if (text[at - 1] === 'n' && text[at - 2] === '\\') return true;
  if (/(?:export|set|env|declare -x|ENV|ARG)$/.test(text.slice(Math.max(0, at - 12), at))) return true;
  const near = text.slice(Math.max(0, at - MAX_LINE_CHARS), at);
  const line = near.lastIndexOf('\n') + 1;
  return (line > 0 || near.length < MAX_LINE_CHARS) && skipLineHead(near, line) >= near.length;
}

const ELEMENT = /<(?:[\w-]{1,40}:)?([\w.-]{2,64})((?:\s[^<>]{0,300})?)$/;
const ATTRIBUTE = /(?:name|key|id)\s{0,2}=\s{0,2}\\{0,8}["']([\w.:/-]{3,64})\\{0,8}["']/i;

/** `<password>…</password>`, `<string name="api_key">…</string>`. */
function findElement(text: string, at: number, done: number): SecretSpan | undefined {
  const before = text.charCodeAt(at - 1);
  if (!isQuote(before) && !isOf(text, at - 1, ALNUM)) return undefined;
  const near = text.slice(Math.max(done, at - 400), at);
  const open = near.lastIndexOf('<');
  if (open < 0) return undefined;
  const [, tag = '', attributes = ''] = ELEMENT.exec(near.slice(open)) ?? [];
  const attribute = ATTRIBUTE.exec(attributes)?.[1] ?? '';
  const strength = [nameStrength(tag), nameStrength(attribute)].find((one) => one === 'strong' || one === 'weak');
  return strength === undefined ? undefined : elementValue(text, at + 1, strength);
}

const NEXT_ELEMENT = /<\/[\w:-]{1,40}>\s{0,40}<[\w:-]{1,40}(?:\s[^<>]{0,100})?>/y;

/** `<key>Password</key><string>…</string>`, `<td>password</td><td>…</td>`. */
function findNextElement(text: string, at: number, done: number): SecretSpan | undefined {
  if (!endsLikeName(text, at)) return undefined;
  const nameStart = runStart(text, at, NAME_UNITS, Math.max(done, at - MAX_NAME_CHARS - 1));
  const strength = nameStrength(text.slice(nameStart, at));
  if (text[nameStart - 1] !== '>' || (strength !== 'strong' && strength !== 'weak')) return undefined;
  NEXT_ELEMENT.lastIndex = at;
  return NEXT_ELEMENT.test(text) ? elementValue(text, NEXT_ELEMENT.lastIndex, strength) : undefined;
}

const ELEMENT_VALUE = /\s{0,40}(?:<!\[CDATA\[)?([^<>\s]{3,2000})(?=(?:\]\]>)?\s{0,40}<\/)/y;

function elementValue(text: string, from: number, strength: NameStrength): SecretSpan | undefined {
  ELEMENT_VALUE.lastIndex = from;
  const value = ELEMENT_VALUE.exec(text)?.[1]?.replace(/\]\]$/, '');
  if (value === undefined) return undefined;
  const start = text.indexOf(value, from);
  const end = start + value.length;
  if (placeholderEnd(text, start) >= 0 || isReference(text, start)) return undefined;
  const standing = { ...CALL, separator: '>', strength } as const;
  return isSecretValue(text, { ...standing, start, end, quoted: true })
    ? { start, end, rule: 'named-secret' }
    : undefined;
}

/** Programs with a short option for a password, by option. */
const SHORT_OPTIONS: Readonly<Record<string, RegExp>> = {
  p: /(?:^|[\s"'`;&|(/=])(?:mysql\w*|mysql-\w+|mariadb[\w-]*|mycli|sshpass|mongo\w*|cqlsh|clickhouse-client|(?:docker|podman|nerdctl|buildah|crane|helm|oras|az|oc|vault)\b[^\n;&|]{0,60}\slogin|7z|htpasswd)\s(?:[^\n;&|]{0,160}\s)?["'\x60]?$/,
  P: /(?:^|[\s"'`;&|(/=])(?:sqlcmd|bcp|zip|unzip|isql|tsql|ipmitool|net-snmp)\s(?:[^\n;&|]{0,160}\s)?["'\x60]?$/,
  a: /(?:^|[\s"'`;&|(/=])(?:redis-cli|valkey-cli|keydb-cli|redis-benchmark|iredis)\s(?:[^\n;&|]{0,160}\s)?["'\x60]?$/,
  w: /(?:^|[\s"'`;&|(/=])(?:ldap\w+|rabbitmq\w*|ipmi\w+)\s(?:[^\n;&|]{0,160}\s)?["'\x60]?$/,
  k: /(?:^|[\s"'`;&|(/=])openssl\s(?:[^\n;&|]{0,160}\s)?["'\x60]?$/,
};
/** Maximum number of characters between a program and its short option. */
const MAX_COMMAND_CHARS = 240;
const USER_OPTION = /-(?:u|-user|-proxy-user|-creds|U)[ =]["']?[A-Za-z0-9_.@\\-]{1,64}[:%]/y;
const PASS_OPTION = /-{1,2}pass(?:in|out)?[ =]["']?pass:/y;

/** `--password VALUE`, `-storepass VALUE`, `curl -u user:VALUE`, `mysql -pVALUE`, `redis-cli -a VALUE`. */
function findOption(text: string, at: number, done: number): SecretSpan | undefined {
  const next = text.charAt(at + 1);
  for (const [option, rule] of [
    [USER_OPTION, 'basic-auth'],
    [PASS_OPTION, 'named-secret'],
  ] as const) {
    if (!'uUp-'.includes(next)) break;
    option.lastIndex = at;
    if (!option.test(text)) continue;
    const start = option.lastIndex;
    const end = bareEnd(text, start);
    if (
      end - start >= 3 &&
      !isReference(text, start) &&
      placeholderEnd(text, start) < 0 &&
      !text.startsWith('//', start)
    )
      return { start, end, rule };
  }
  const isLong = next === '-';
  if (isLong || isOf(text, at + 2, ALNUM)) {
    const nameStart = isLong ? at + 2 : at + 1;
    const nameEnd = runEnd(text, nameStart, ALNUM | UNDERSCORE | DASH, nameStart + MAX_NAME_CHARS);
    if (text[nameEnd] === ' ' && endsLikeName(text, nameEnd)) {
      const strength = nameStrength(text.slice(nameStart, nameEnd));
      const begin = skipBlanks(text, nameEnd);
      if ((strength === 'strong' || strength === 'weak') && text[begin] !== '-')
        return readValue(text, begin, { ...CALL, separator: ' ', strength });
    }
  }
  const programs = Object.hasOwn(SHORT_OPTIONS, next) ? SHORT_OPTIONS[next] : undefined;
  if (programs === undefined || !programs.test(text.slice(Math.max(done, at - MAX_COMMAND_CHARS), at)))
    return undefined;
  // `-p` without a value prompts for the password.
  const begin = skipBlanks(text, at + 2);
  if (
    text[begin] === '-' ||
    (begin > at + 2 &&
      /^[a-z]{1,12}(?:\s|$)/.test(text.slice(begin, begin + 14)) &&
      next === 'p' &&
      /mysql|mariadb/.test(text.slice(Math.max(done, at - MAX_COMMAND_CHARS), at)))
  )
    return undefined;
  return readValue(text, begin, { ...CALL, separator: ' ', strength: 'strong' });
}
