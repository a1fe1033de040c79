import { unitAt } from '../base/unit-at.ts';
import { isLetter, isLetterOrDigit } from '../base/unit-kinds.ts';
import { CHARACTER_CLASSES, EVENT, makeWordAutomaton, STATE, type WordAutomaton } from './word-automaton.ts';

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
    'econn epipe etimedout enotfound eai ehostunreach enetunreach eio eacces eperm enoent enospc eisdir enotdir ebusy emfile erofs exdev enotempty ' +
    'tool refused rejected denied timeout msg validation ref permission recognized',
  told: 'guru panic segmentation dumped nothing error exception fatal critical severe fail exit non could cannot can$ unable',
};

/** How words begin that may name something volatile, and paths of temporary files. */
const NAMES =
  'pid proc sess requ req trac span job mess msg corr even rece run invo uuid guid nonc etag time elap dura took crea upda ' +
  'date nano nsec served atte retr refe ref uid inci ray conn resp oper exec packe trans deliv seed ts$ /tmp /var /dev /private';
/** The sign of these, used here alone. */
const NAME_SIGN = 128;

interface Word {
  readonly letters: string;
  /** No letter follows. */
  readonly ends: boolean;
  readonly sign: number;
}

const VOCABULARY: readonly Word[] = [
  // The record is written above with just these names.
  ...Object.entries(WORDS).flatMap(([kind, words]) => wordsOf(words, SIGN[kind as keyof typeof SIGN])),
  ...wordsOf(NAMES, NAME_SIGN),
];

function wordsOf(words: string, sign: number): readonly Word[] {
  return words.split(' ').map((word) => {
    const ends = word.endsWith('$');
    return { letters: ends ? word.slice(0, -1) : word, ends, sign };
  });
}

/** The automaton that meets all these words. */
export const WORD_AUTOMATON: WordAutomaton = makeWordAutomaton(VOCABULARY.map((word) => word.letters));
// To the compiler the tables of a module are constants, and those that it imports are not: 1.1 us instead of 1.5 over 400 characters.
const CLASSES = CHARACTER_CLASSES;
const STEPS = WORD_AUTOMATON.steps;
const { longest: LONGEST, shorter: SHORTER } = WORD_AUTOMATON;
const LENGTHS = Uint8Array.from([0, ...VOCABULARY.map((word) => word.letters.length)]);
const SIGNS = Uint8Array.from([0, ...VOCABULARY.map((word) => word.sign)]);
const ENDS = Uint8Array.from([0, ...VOCABULARY.map((word) => (word.ends ? 1 : 0))]);

/**
 * The kinds of words in a part of a text, as bits of `SIGN`. A word begins behind anything that is no letter, and at a capital
 * within a name: `myError`, `HTTPError`. Never wrongly without a sign that is there.
 *
 * @param from  default 0
 * @param to  default the end
 * Cost: one pass, a few nanoseconds a character; no allocation.
 */
export function signsOf(text: string, from = 0, to: number = text.length): number {
  let signs = 0;
  let state: number = STATE.outside;
  for (let at = from; at < to; at += 1) {
    const unit = text.charCodeAt(at);
    const step = (unit < 128 ? CLASSES[unit] : 0) as number;
    state = STEPS[state + step] as number;
    if (state < EVENT) continue;
    state -= EVENT;
    if (state === STATE.percent) signs |= SIGN.pending;
    else if (state === STATE.mixed) state = STEPS[STATE.letter + step] as number;
    else signs |= signsAt(text, at, state);
  }
  return signs;
}

/** The kinds of the words that end with the character at a place, in the state behind it. */
export function signsAt(text: string, at: number, state: number): number {
  let signs = 0;
  // Every word has a number, and each of them an entry in these tables.
  for (let word = LONGEST[state >>> 5] as number; word !== 0; word = SHORTER[word] as number) {
    const sign = SIGNS[word] as number;
    if (sign === NAME_SIGN || (signs & sign) !== 0) continue;
    if (beginsPart(text, at + 1 - (LENGTHS[word] as number)) && mayEnd(word, text, at)) signs |= sign;
  }
  return signs;
}

/** Where the name begins that ends with the character at a place, in the state behind it; -1 where none does. */
export function nameStart(text: string, at: number, state: number): number {
  for (let word = LONGEST[state >>> 5] as number; word !== 0; word = SHORTER[word] as number) {
    if (SIGNS[word] !== NAME_SIGN) continue;
    const start = at + 1 - (LENGTHS[word] as number);
    const begins = unitAt(text, start) === SLASH || !isLetterOrDigit(unitAt(text, start - 1));
    if (begins && mayEnd(word, text, at)) return start;
  }
  return -1;
}

function mayEnd(word: number, text: string, at: number): boolean {
  return ENDS[word] === 0 || !isLetter(unitAt(text, at + 1));
}

/** Whether a word begins here, or a part of a name: `myError`, `HTTPError`. */
function beginsPart(text: string, start: number): boolean {
  const before = unitAt(text, start - 1);
  if (!isLetter(before)) return true;
  const isCapital = unitAt(text, start) < 0x61;
  return isCapital && (before >= 0x61 || unitAt(text, start + 1) >= 0x61);
}

const SLASH = 0x2f;
