import { isBlank, isLetter } from '../base/unit-kinds.ts';
import { ALNUM, DASH, HEX, isOf, runStart, UNDERSCORE } from './char-class.ts';
import { NAME_ENDINGS } from './secret-names.ts';
import { TOKEN_PREFIXES } from './token-prefixes.ts';

const WORD = ALNUM | UNDERSCORE | DASH;
/** Units that may be marks. */
const MAY_BE_MARK = new Uint8Array(128);
for (const mark of '_-.:=ASNdbB~[') MAY_BE_MARK[mark.charCodeAt(0)] = 1;

/** Longest run of quotation marks, brackets, backslashes and blanks between a name and its separator. */
const MAX_SEPARATORS = 24;
/** Longest user and password of a URL. */
const MAX_CREDENTIALS = 2_048;
/** Fewest units on both sides of the dots of a token of three parts. */
const MIN_BEFORE_DOT = 20;
const MIN_AFTER_DOT = 6;

/**
 * How much text is looked at by hand before the pattern is compiled, which takes 2 ms and is then some five times as fast. A
 * process that lives for one event of an agent never gets there.
 */
const MAX_BY_HAND = 64 * 1024;
let lookedAt = 0;
let pattern: RegExp | undefined;

/**
 * The first mark at or after `from`, or -1 where there is none. A mark is where a secret may be: the unit that a closer look
 * starts from.
 *
 * Cost: a look at each unit, and at a bounded number around those that may be marks; linear on any text.
 */
export function nextMark(text: string, from: number): number {
  if (pattern === undefined && lookedAt + text.length <= MAX_BY_HAND) {
    const found = nextMarkByHand(text, from);
    lookedAt += (found < 0 ? text.length : found) - from;
    return found;
  }
  pattern ??= markPattern();
  pattern.lastIndex = from;
  // Every alternative is one unit long, so the position tells the place; `exec` would make a list each time.
  return pattern.test(text) ? pattern.lastIndex - 1 : -1;
}

/**
 * What a mark is, as one pattern. Every alternative begins with one unit and looks around a bounded number of others, so
 * that the whole is one pass of native code over text without secrets, and linear on any text.
 */
export function markPattern(): RegExp {
  return new RegExp(
    [
      `_(?<=(?:${prefixesTo('_')})_)`,
      `-(?:(?<=(?:${prefixesTo('-')})-)|(?=----BEGIN|---- BEGIN|--- BEGIN|---BEGIN)|(?=User-Key)|(?=-[A-Za-z])|(?=u ))`,
      String.raw`\.(?:(?<=(?:${prefixesTo('.')})\.)|(?=eyJ|atlasv1|slack\.com/|com/api/)|(?=[\w-]{6}\.)(?<=[\w-]{20}\.))`,
      `[:=](?<=(?:${NAME_ENDINGS.map(anyCase).join('|')})[\\\\"'\`\\] ]{0,24}[:=])`,
      String.raw`:(?:(?=//[^\s/?#<>"'\\]{1,2048}@)|(?<=[0-9A-Fa-f]{8}:))`,
      'A(?=[KSGIRNBC][A-Z]|T[ACB]|Iz)',
      'S(?=K[0-9a-fA-F])',
      'N(?=RAL)',
      'd(?=api)',
      '[bB](?=[eE][aA][rR][eE][rR] |[aA][sS][iI][cC] )',
      '~(?<=Q~)',
      String.raw`\[(?=REDACTED:)`,
    ].join('|'),
    'g',
  );
}

/** Beginnings of prefixes up to their first mark, where that is `mark`, as alternatives of a pattern. */
function prefixesTo(mark: '_' | '-' | '.'): string {
  const found = TOKEN_PREFIXES.filter(({ prefix }) => prefix.charAt(prefix.search(/[_.-]/)) === mark);
  return [...new Set(found.map(({ prefix }) => prefix.slice(0, prefix.indexOf(mark))))].join('|');
}

/** A word in any case, without the flag that would make the whole pattern slow. */
function anyCase(word: string): string {
  return word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

/** The same as the pattern finds, without it. */
export function nextMarkByHand(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 128 && MAY_BE_MARK[unit] === 1 && isMark(text, at, unit)) return at;
  }
  return -1;
}

function isMark(text: string, at: number, unit: number): boolean {
  switch (unit) {
    // `_`
    case 0x5f:
      return endsHead(text, at, unit);
    // `-`
    case 0x2d:
      return isDashMark(text, at) || endsHead(text, at, unit);
    // `.`
    case 0x2e:
      return isDotMark(text, at) || endsHead(text, at, unit);
    // `:`
    case 0x3a:
      return endsName(text, at) || hasCredentials(text, at) || isOfRun(text, at - 8, at, HEX);
    // `=`
    case 0x3d:
      return endsName(text, at);
    // `~`
    case 0x7e:
      return text.charCodeAt(at - 1) === 0x51;
    default:
      return beginsForm(text, at, unit);
  }
}

/** Keys that are told by their first letters, `Bearer `, `Basic `, and our own placeholder. */
function beginsForm(text: string, at: number, unit: number): boolean {
  switch (unit) {
    // `A`
    case 0x41: {
      const second = text.charAt(at + 1);
      const third = text.charAt(at + 2);
      if (second === 'T') return third === 'A' || third === 'C' || third === 'B';
      if (second === 'I' && third === 'z') return true;
      return second !== '' && 'KSGIRNBC'.includes(second) && third >= 'A' && third <= 'Z';
    }
    // `S`
    case 0x53:
      return text.charCodeAt(at + 1) === 0x4b && isOf(text, at + 2, HEX);
    // `N`
    case 0x4e:
      return text.startsWith('RAL', at + 1);
    // `d`
    case 0x64:
      return text.startsWith('api', at + 1);
    // `[`
    case 0x5b:
      return text.startsWith('REDACTED:', at + 1);
    // `b` and `B`
    default:
      return followsInAnyCase(text, at + 1, 'earer ') || followsInAnyCase(text, at + 1, 'asic ');
  }
}

/** The beginning of a private key, an option of a command line. */
function isDashMark(text: string, at: number): boolean {
  const next = text.charCodeAt(at + 1);
  if (next === 0x2d) {
    if (isLetter(text.charCodeAt(at + 2))) return true;
    for (const opening of KEY_OPENINGS) if (text.startsWith(opening, at + 1)) return true;
    return false;
  }
  // `-u `, `User-Key`.
  if (next === 0x75) return text.charCodeAt(at + 2) === 0x20;
  return next === 0x55 && text.startsWith('User-Key', at + 1);
}

/** What follows the first dash of a private key. */
const KEY_OPENINGS = ['----BEGIN', '---- BEGIN', '--- BEGIN', '---BEGIN'] as const;

/** What stands after a dot in some tokens and addresses, or three parts of a token. */
function isDotMark(text: string, at: number): boolean {
  for (const form of AFTER_DOT) if (text.startsWith(form, at + 1)) return true;
  const end = at + 1 + MIN_AFTER_DOT;
  return (
    text.charCodeAt(end) === 0x2e &&
    isOfRun(text, at + 1, end, WORD) &&
    runStart(text, at, WORD, Math.max(0, at - MIN_BEFORE_DOT)) === at - MIN_BEFORE_DOT
  );
}

const AFTER_DOT = ['eyJ', 'atlasv1', 'slack.com/', 'com/api/'] as const;

/** Whether a name that a secret may have ends before the separator, quotation marks and blanks aside. */
function endsName(text: string, at: number): boolean {
  let end = at;
  while (at - end <= MAX_SEPARATORS && isSeparator(text.charCodeAt(end - 1))) end -= 1;
  if (at - end > MAX_SEPARATORS || end < 3) return false;
  return endings.has(text.slice(end - 3, end).toLowerCase());
}

const endings: ReadonlySet<string> = new Set(NAME_ENDINGS);

/** One of `\`, `"`, `'`, a backtick, `]` and a blank. */
function isSeparator(unit: number): boolean {
  return unit === 0x20 || unit === 0x22 || unit === 0x27 || unit === 0x5c || unit === 0x5d || unit === 0x60;
}

/** `://user:password@` of a URL. */
function hasCredentials(text: string, at: number): boolean {
  if (text.charCodeAt(at + 1) !== 0x2f || text.charCodeAt(at + 2) !== 0x2f) return false;
  const begin = at + 3;
  const end = Math.min(text.length, begin + MAX_CREDENTIALS + 1);
  for (let next = begin; next < end; next += 1) {
    const unit = text.charCodeAt(next);
    if (unit === 0x40 && next > begin) return true;
    if (
      unit > 127
        ? /\s/.test(text.charAt(next))
        : unit <= 0x20
          ? isBlank(unit)
          : '/?#<>"\'\\'.includes(text.charAt(next))
    ) {
      return false;
    }
  }
  return false;
}

/** Whether a prefix up to its first mark stands before the mark at `at`. */
function endsHead(text: string, at: number, mark: number): boolean {
  heads ??= headsByMark();
  for (const head of heads.get((mark << 8) | text.charCodeAt(at - 1)) ?? []) {
    if (at >= head.length && text.startsWith(head, at - head.length)) return true;
  }
  return false;
}

let heads: ReadonlyMap<number, readonly string[]> | undefined;

/** What stands before the first mark of the prefixes, by that mark and the unit before it. */
function headsByMark(): ReadonlyMap<number, readonly string[]> {
  const made = new Map<number, string[]>();
  for (const { prefix } of TOKEN_PREFIXES) {
    let end = 0;
    while (isOf(prefix, end, ALNUM)) end += 1;
    const key = (prefix.charCodeAt(end) << 8) | prefix.charCodeAt(end - 1);
    const head = prefix.slice(0, end);
    const known = made.get(key) ?? [];
    if (!known.includes(head)) made.set(key, [...known, head]);
  }
  return made;
}

/** Whether all units from `from` to `to` are of one of the classes of `mask`; not where the text has none there. */
function isOfRun(text: string, from: number, to: number, mask: number): boolean {
  if (from < 0) return false;
  for (let at = from; at < to; at += 1) if (!isOf(text, at, mask)) return false;
  return true;
}

/** @param word  small letters, and what has no case */
function followsInAnyCase(text: string, at: number, word: string): boolean {
  for (let offset = 0; offset < word.length; offset += 1) {
    const unit = text.charCodeAt(at + offset);
    const small = unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit;
    if (small !== word.charCodeAt(offset)) return false;
  }
  return true;
}
