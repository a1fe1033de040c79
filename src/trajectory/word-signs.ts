import { unitAt } from '../base/unit-at.ts';

/**
 * Kinds of words that a text may hold. Each opens patterns that are too dear to be tried on every answer: a regular expression
 * with twenty alternatives takes longer over 400 characters than all the rest of a call.
 */
export const SIGN = {
  /** Of what is not finished yet, and the sign `%`. */
  pending: 1,
  /** Of what changed nothing. */
  noChange: 2,
  /** Of an action that came to nothing. */
  ineffective: 4,
  /** Of a refusal that is handed over as an ordinary answer. */
  refusal: 8,
  /** Of how libraries and systems open the message of a failure. */
  opening: 16,
  /** By which a program tells of its own failure. */
  told: 32,
} as const;

/** A letter follows a digit within a word: `7s0d1q9m`. Told by `scanText` alone. */
export const MIXED_SIGN = 64;

/** How the words begin, in small letters; those with a `$` end there too. */
const WORDS: Readonly<Record<keyof typeof SIGN, string>> = {
  pending:
    'still pending awaiting waiting queued enqueued progress inprogress review not$ processing scheduled flight running ' +
    'starting initiali provisioning preparing status state phase stage percent pct completion false$',
  noChange: 'no$ nothing unchanged already not$ affected changed updated modified',
  ineffective: 'nothing effect you$ understand know not$ invalid illegal impossible did path way route',
  refusal: 'exist did verify checking captcha',
  opening:
    'econn epipe etimedout enotfound eai ehostunreach enetunreach eio eacces eperm enoent enospc eisdir enotdir ebusy emfile ' +
    'tool refused rejected denied timeout msg validation ref permission recognized',
  told: 'guru panic segmentation dumped nothing error exception fatal critical severe fail exit non could cannot can$ unable',
};

interface Entry {
  readonly letters: string;
  /** No letter follows. */
  readonly ends: boolean;
  readonly sign: number;
}

/** Third letters, as bits, by the first two: most words of a text are passed over with one look. */
const THIRD_LETTERS = new Uint32Array(32 * 32);
const BY_START = new Map<number, Entry[]>();
for (const [kind, words] of Object.entries(WORDS)) {
  // The record is written above with just these names.
  const sign = SIGN[kind as keyof typeof SIGN];
  for (const word of words.split(' ')) enter(word, sign);
}

function enter(word: string, sign: number): void {
  const ends = word.endsWith('$');
  const letters = ends ? word.slice(0, -1) : word;
  const pair = pairOf(letters.charCodeAt(0), letters.charCodeAt(1));
  // Behind a word of two letters stands anything.
  const thirds = letters.length > 2 ? [letters.charCodeAt(2) & 31] : Array.from({ length: 32 }, (_, third) => third);
  for (const third of thirds) {
    THIRD_LETTERS[pair] = (THIRD_LETTERS[pair] ?? 0) | (1 << third);
    const start = (pair << 5) | third;
    const known = BY_START.get(start);
    if (known === undefined) BY_START.set(start, [{ letters, ends, sign }]);
    else known.push({ letters, ends, sign });
  }
}

function pairOf(first: number, second: number): number {
  return ((first & 31) << 5) | (second & 31);
}

/**
 * The kinds of words in a part of a text, as bits of `SIGN`. A word begins behind anything that is no letter, and at a capital
 * within a name: `myError`, `HTTPError`. Never wrongly without a sign that is there.
 *
 * @param from  default 0
 * @param to  default the end
 * Cost: one pass, a few nanoseconds a word; no allocation.
 */
export function signsOf(text: string, from = 0, to: number = text.length): number {
  let signs = 0;
  let before = NO_LETTER;
  for (let at = from; at < to; at += 1) {
    const unit = unitAt(text, at);
    const kind = isLetter(unit) ? (unit >= 0x61 ? SMALL : CAPITAL) : NO_LETTER;
    if (kind !== before) {
      if (kind === CAPITAL || before === NO_LETTER) signs |= wordSigns(text, at);
      // The capital before it begins a word.
      else if (kind === SMALL) signs |= wordSigns(text, at - 1);
      else if (unit === PERCENT) signs |= SIGN.pending;
      before = kind;
    } else if (unit === PERCENT) signs |= SIGN.pending;
  }
  return signs;
}

const NO_LETTER = 0;
const SMALL = 1;
const CAPITAL = 2;
const PERCENT = 0x25;

/** The kinds of the word that begins here. */
export function wordSigns(text: string, at: number): number {
  const pair = pairOf(unitAt(text, at), unitAt(text, at + 1));
  const third = unitAt(text, at + 2) & 31;
  // The pair is below 1,024.
  return (((THIRD_LETTERS[pair] as number) >>> third) & 1) === 0 ? 0 : signsAt(text, at, (pair << 5) | third);
}

function signsAt(text: string, at: number, start: number): number {
  let signs = 0;
  for (const entry of BY_START.get(start) ?? []) if (stands(entry, text, at)) signs |= entry.sign;
  return signs;
}

function stands({ letters, ends }: Entry, text: string, at: number): boolean {
  for (let index = 0; index < letters.length; index += 1) {
    if ((unitAt(text, at + index) | 32) !== letters.charCodeAt(index)) return false;
  }
  return !ends || !isLetter(unitAt(text, at + letters.length));
}

function isLetter(unit: number): boolean {
  const small = unit | 32;
  return small >= 0x61 && small <= 0x7a;
}
