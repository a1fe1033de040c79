import { isDigit, isLetter, isLetterOrDigit, isWordUnit, unitAt } from '../../base/unit-kinds.ts';
import type { ReadingRule } from './answer-rules.ts';

/** Each form has a digit, and is tested where letters and digits begin. Plain numbers stay: they may show progress. */
export const VOLATILE: readonly ReadingRule[] = [
  {
    id: 'time',
    form: /\b\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|T\d\d[-_]\d\d(?:[-_]\d\d(?:[-_.]\d+)?)?Z?)?|\b20\d{6}T\d{6}Z?\b|\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?|\.\d+)\b/,
  },
  {
    id: 'hexadecimal-id',
    // Hexadecimal ids of whole bytes, with a digit and a letter. Digests are kept, because a digest identifies content.
    form: /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?![a-z\d])|(?=[\da-f-]*\d)[\da-f]{8}(?:-[\da-f]{4}){1,3}(?![a-z\d])|0x[\da-f]{6,}\b|(?<!(?:sha\d{0,3}|md5|digest|checksum|hash)["']?[:=] ?["']?)(?=[\da-f]*\d)(?=[\da-f]*[a-f])(?:[\da-f]{2}){4,32}(?![a-z\d])/,
  },
  {
    id: 'named-id',
    // Ids after a word: worker-9f3a1c, req-01HX3Z8K2M
    form: /(?<=[A-Za-z][_-])(?:(?=[\da-f]*\d)(?=[\da-f]*[a-f])[\da-f]{6,7}|(?=(?:[A-Za-z]*\d+[A-Za-z]+){2})[A-Za-z\d]{8,40})(?![A-Za-z\d])/,
  },
  {
    id: 'long-number',
    // Unix times, and numbers that are too long for a count or have a leading zero
    form: /(?<![A-Za-z\d.])(?:0\d{7,29}|\d{13,30})(?![\d.])|\b1[5-9]\d{8}\b/,
  },
  {
    id: 'duration',
    // Durations and ages: 0.12s, 3.4 seconds, 5m12s, 3 hours ago, an age in a table column
    form: /\b\d+(?:\.\d+)?\s?(?:ms|msecs?|[µu]s|ns|s|secs?|seconds?|mins?|minutes?)\b|\b(?:\d+d)?(?:\d+h)?(?:\d+m)?(?<=[dhm])\d+(?:\.\d+)?[smh]\b|\b\d+ (?:hours?|days?|weeks?)(?= ago\b)|(?<=\s\s)\d+[mhd](?=\s|$)|(?<!\S)\d+[mhd](?=\s\s)/,
  },
  {
    id: 'timed-key',
    // Values of fields that hold times: "took_ms": 12, savedAt=1034, nanosec: 88. Not the line in file.ts:12:5
    form: /(?<=(?:[_-](?:ms|at|time)|[a-z](?:Ms|At|Time)|\b(?:(?<!\.)ts|[Tt]imestamp|[Tt]ime|[Dd]ate|nano_?secs?|[Ee]lapsed|[Dd]uration|took|[Ll]atency|[Uu]ptime)(?:_?(?:ms|s|secs?|seconds|millis|time))?)["']?\s?[:=]\s?["']?)\d[\w.:+-]*/,
  },
  {
    id: 'process',
    // Process ids and ephemeral ports: pid 4711, relayd[48215]:
    form: /(?<=\b(?:[Pp]id|PID|[Pp]rocess|[Ss]ession)(?:_?id)?["']?[ #:=]+["']?(?:[a-z]+-)?)[\w-]+|(?<=[a-z]\[)\d{3,7}(?=\]: )|(?<=localhost:|\.\d{1,3}:)(?:3[3-9]|[45]\d|6[0-5])\d{3}\b/,
  },
  {
    id: 'receipt',
    // Values of id fields, and references to page elements: [ref=e44], "messageId": "m-7000", reqId=18697, "etag": "W/1265"
    form: /(?<=(?:[Mm]essage|msg|[Rr]equest|req|[Tt]race|[Ss]pan|[Cc]orrelation|[Ee]vent|[Rr]un|[Rr]ay|[Rr]esponse|[Oo]peration|[Ee]xecution|[Tt]ransaction)[ _-]?(?:id|Id|ID)["']?\s?[:=]\s?["']?(?:[\w.-]{0,20}[.-])?|\b(?:[Ee][Tt]ag|nonce|uuid|guid|trace|span)["']?\s?[:=]\s?["']?[\\"'W/]{0,5})[\w.:-]+|(?<=(?<![a-z\d])(?:ref|uid)=["']?)[\w-]{1,24}/,
  },
  { id: 'temporary-path', form: /(?<=\/(?:tmp|var\/folders|dev\/shm)\/[\w./-]{0,80})[\w./-]+/ },
];

/** Compiled on first use, because a short-lived process may not need it. */
let volatileForm: RegExp | undefined;
/** Number of characters masked at each end of a text. The middle is unchanged. */
const END_CHARS = 4_096;
const MAX_RUN_CHARS = 64;

/** `~` for volatile parts in the first and last 4,096 characters: two results are equal if they differ only in times or ids. */
export function lightMask(text: string): string {
  if (text.length <= 2 * END_CHARS) return maskPiece(text);
  const head = maskPiece(text.slice(0, END_CHARS));
  return head + text.slice(END_CHARS, -END_CHARS) + maskPiece(text.slice(-END_CHARS));
}

export function masksOf(text: string): readonly string[] {
  const piece = text.slice(0, END_CHARS);
  const ranges = findVolatileRanges(piece);
  return VOLATILE.filter(({ form }) => {
    const anchoredForm = new RegExp(form, 'my');
    return ranges.some(([start]) => ((anchoredForm.lastIndex = start), anchoredForm.test(piece)));
  }).map(({ id }) => id);
}

function maskPiece(piece: string): string {
  let masked = '';
  let maskedUntil = 0;
  for (const [start, end] of findVolatileRanges(piece)) {
    masked += `${piece.slice(maskedUntil, start)}~`;
    maskedUntil = end;
  }
  return maskedUntil === 0 ? piece : masked + piece.slice(maskedUntil);
}

function findVolatileRanges(piece: string): readonly (readonly [start: number, end: number])[] {
  const form = (volatileForm ??= new RegExp(VOLATILE.map((rule) => rule.form.source).join('|'), 'my'));
  const ranges: (readonly [number, number])[] = [];
  let end = 0;
  for (let at = nextDigit(piece, 0); at >= 0; at = nextDigit(piece, end)) {
    let start = at;
    while (start > end && at - start < MAX_RUN_CHARS && isLetterOrDigit(unitAt(piece, start - 1))) start -= 1;
    let runEnd = at + 1;
    while (isLetterOrDigit(unitAt(piece, runEnd))) runEnd += 1;
    form.lastIndex = start;
    const isVolatile = canBeVolatile(piece, start, runEnd) && form.test(piece);
    end = isVolatile ? form.lastIndex : runEnd;
    if (isVolatile) ranges.push([start, end]);
  }
  return ranges;
}

const LONG_DIGITS = 8;
/** Number of digits of an ephemeral port. */
const PORT_DIGITS = 5;
/** Characters before the value of a named field, before a part of a path, and before a part of an id. */
const CHARACTERS_BEFORE_VALUES = unitsOf('=#"\'\\-./[');
const FIRST_LETTERS_OF_UNITS = unitsOf('mnsuhdwµ');
/** The last two letters of the names before a number without a separator: `pid`, `process`, `session`. */
const NAME_ENDINGS: ReadonlySet<string> = new Set(['id', 'ID', 'ss', 'on']);

/** Decides by the characters around the sequence, in a tenth of the time of the rules. `mask.test.ts` compares both. */
function canBeVolatile(piece: string, start: number, end: number): boolean {
  return hasVolatileForm(piece, start, end) || hasVolatileContext(piece, start, end);
}

/** Returns true if a rule may match the sequence because of its form: a time, an id, a long number, a duration. */
function hasVolatileForm(piece: string, start: number, end: number): boolean {
  const length = end - start;
  if (length >= LONG_DIGITS) return true;
  if (!isDigit(unitAt(piece, start))) return false;
  for (let at = start + 1; at < end; at += 1) if (!isDigit(unitAt(piece, at))) return true;
  const [next, following] = [unitAt(piece, end), unitAt(piece, end + 1)];
  // A duration with a blank before its unit.
  if (isBlank(next)) return FIRST_LETTERS_OF_UNITS.has(following);
  if (next === COLON) return length <= 2 && isDigit(following);
  if (next === DASH || next === SLASH) return length === 4 && isDigit(following);
  return next === DOT ? isDigit(following) : next > LAST_ASCII;
}

/** Returns true if a rule may match the sequence because of the text before it: the name of a field, a folder, a word of an id. */
function hasVolatileContext(piece: string, start: number, end: number): boolean {
  let at = start - 1;
  while (isBlank(unitAt(piece, at))) at -= 1;
  const unit = unitAt(piece, at);
  if (unit === COLON || unit === EQUALS) return !isDigit(unitAt(piece, at - 1)) || end - start === PORT_DIGITS;
  if (at === start - 1) return isWordUnit(unit) || CHARACTERS_BEFORE_VALUES.has(unit) || unit > LAST_ASCII;
  return isLetter(unit) ? NAME_ENDINGS.has(piece.slice(at - 1, at + 1)) : CHARACTERS_BEFORE_VALUES.has(unit);
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
}

function unitsOf(characters: string): ReadonlySet<number> {
  return new Set(Array.from(characters, (character) => character.charCodeAt(0)));
}

const COLON = 0x3a;
const EQUALS = 0x3d;
const DASH = 0x2d;
const DOT = 0x2e;
const SLASH = 0x2f;
const LAST_ASCII = 0x7f;

function nextDigit(piece: string, from: number): number {
  for (let at = from; at < piece.length; at += 1) if (isDigit(piece.charCodeAt(at))) return at;
  return -1;
}

const SPECIFIC_NAME =
  /https?:\/\/[^\s"')\]]+|"[^"\n]{0,400}"|'[^'\n]{0,400}'|`[^`\n]{0,400}`|\[[^\]\n]{0,400}\]|(?:[A-Za-z]:)?(?:[\w.@~-]*[\\/])+[\w.@~-]+|\b[\w-]+\.[a-z]{1,4}\b|\b0x[0-9a-f]+\b|\d+/gi;

/** Groups errors with the same cause. `line`: at most a few hundred characters. */
export function strongMask(line: string): string {
  return line.replace(SPECIFIC_NAME, '#').replace(/\s+/g, ' ').trim().toLowerCase();
}
