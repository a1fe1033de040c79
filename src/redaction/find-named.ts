import { runStart } from './char-class.ts';
import { findElement, findNextElement } from './find-element.ts';
import { findOption } from './find-option.ts';
import { skipLineHead } from './line-head.ts';
import { countBackslashes, readValue, skipBlanks } from './read-value.ts';
import { CALL, isQuote } from './secret-value.ts';
import { endsLikeName, MAX_NAME_CHARS, NAME_UNITS, nameStrength, type NameStrength } from './secret-names.ts';
import type { SecretSpan } from './secret-span.ts';

const MAX_SEPARATORS = 24;
const MAX_BLANKS = 64;
/** How far before a name its line begins. */
const MAX_LINE_CHARS = 240;

/** What is a secret because of the name, the option or the tag before it. `at` is a mark; nothing before `done` is looked at. */
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

/** `.env` lines, JSON members also in escaped JSON, YAML, headers, query parameters, keyword arguments, pairs of name and value. */
function findAssigned(text: string, at: number, done: number): SecretSpan | undefined {
  const nameEnd = nameEndBefore(text, at, done);
  if (nameEnd - done < 3 || !endsLikeName(text, nameEnd)) return undefined;
  const nameStart = runStart(text, nameEnd, NAME_UNITS, Math.max(done, nameEnd - MAX_NAME_CHARS - 1));
  const name = withoutEscape(text, nameStart, nameEnd);
  const mark = text.charAt(at) === ':' ? ':' : '=';
  // `==`, `::`, `:=` and `=>`: only the last two give a value.
  const next = text.charAt(at + 1);
  if (next === mark || (next === '=' && mark === ':' && text.charAt(at + 2) === '=')) return undefined;
  if (mark === '=' && '=!<>~+'.includes(text.charAt(at - 1) || ' ')) return undefined;
  const after = next === '>' || next === '=' ? at + 2 : at + 1;
  const begin = skipBlanks(text, after);
  const strength = nameStrength(name);
  // `PASS: TestName`, `pass: 12`: outcomes of tests.
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

/** `{"Key": "DB_PASSWORD", "Value": "…"}`, `<add key="ApiKey" value="…"/>`, `- name: TOKEN\n  value: …`, from after the first separator. */
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

/** Where the name before a separator ends: before blanks, a closing quotation mark, its backslashes, a bracket. */
function nameEndBefore(text: string, at: number, done: number): number {
  const limit = Math.max(done, at - MAX_SEPARATORS);
  let end = at;
  for (; end > limit; end -= 1) {
    const unit = text.charCodeAt(end - 1);
    // A blank, `]`, a backslash, an asterisk, a quotation mark.
    if (unit !== 32 && unit !== 93 && unit !== 92 && unit !== 42 && !isQuote(unit)) break;
  }
  return end;
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
  if (/(?:export|set|env|declare -x|ENV|ARG)$/.test(text.slice(Math.max(0, at - 12), at))) return true;
  const near = text.slice(Math.max(0, at - MAX_LINE_CHARS), at);
  const line = near.lastIndexOf('\n') + 1;
  return (line > 0 || near.length < MAX_LINE_CHARS) && skipLineHead(near, line) >= near.length;
}
