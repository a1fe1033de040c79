import { unitAt } from '../base/unit-at.ts';
import { isHexUnit, isLetterOrDigit } from '../base/unit-kinds.ts';
import { volatileEnd, type VolatileOpening } from './volatile-parts.ts';
import { CHARACTER_CLASSES, EVENT, STATE } from './word-automaton.ts';
import { MIXED_SIGN, nameStart, SIGN, signsAt, WORD_AUTOMATON } from './word-signs.ts';

// As in `signsOf`: tables of this module are constants to the compiler.
const CLASSES = CHARACTER_CLASSES;
const STEPS = WORD_AUTOMATON.steps;
const SLASH = 0x2f;
/** How much of each end of a text is masked; what lies between is compared as it is. */
const END_CHARS = 4_096;

/** What one pass over a text tells. */
export interface ScannedText {
  /** `lightMask` of it. */
  readonly masked: string;
  /** `signsOf` what was masked. */
  readonly signs: number;
}

/**
 * The text with what is volatile replaced by `~`, so that two results that differ only in a clock or a receipt
 * number are equal. Masks the first and the last 4,096 characters.
 *
 * Cost: one pass over at most 8,192 characters, and a regular expression where something volatile may begin.
 */
export function lightMask(text: string): string {
  return scanText(text).masked;
}

/** `lightMask`, and the kinds of words at both ends: each word is met once for both. */
export function scanText(text: string): ScannedText {
  if (text.length <= 2 * END_CHARS) return scanPiece(text);
  const head = scanPiece(text.slice(0, END_CHARS));
  const tail = scanPiece(text.slice(-END_CHARS));
  const masked = head.masked + text.slice(END_CHARS, -END_CHARS) + tail.masked;
  return { masked, signs: head.signs | tail.signs };
}

/**
 * Masks the same as `piece.replace` with a global expression, but only looks where a number, a name or a path begins. Each
 * character is met once, by the automaton that also finds the words.
 */
function scanPiece(piece: string): ScannedText {
  let state: number = STATE.outside;
  let signs = 0;
  let hasDigit = false;
  let masked = '';
  let done = 0;
  for (let at = 0; at < piece.length; at += 1) {
    const unit = piece.charCodeAt(at);
    // Both tables hold a number for every class and every state.
    const step = (unit < 128 ? CLASSES[unit] : 0) as number;
    state = STEPS[state + step] as number;
    if (state < EVENT) continue;
    state -= EVENT;
    let start = at;
    let opening: VolatileOpening = 'hex';
    switch (state) {
      case STATE.percent:
        signs |= SIGN.pending;
        continue;
      case STATE.mixed:
        if (at >= done) signs |= MIXED_SIGN;
        state = STEPS[STATE.letter + step] as number;
        continue;
      case STATE.openingDigit:
        hasDigit = true;
        opening = 'digit';
        break;
      case STATE.laterDigit:
        hasDigit = true;
        start = idStart(piece, at);
        break;
      case STATE.dash:
        // A UUID may have no digit before its first dash.
        start = at - 8;
        break;
      default:
        signs |= signsAt(piece, at, state);
        start = nameStart(piece, at, state);
        opening = unitAt(piece, start) === SLASH ? 'slash' : 'name';
    }
    if (start < done) continue;
    const end = volatileEnd(piece, start, opening);
    if (end === start) continue;
    masked += `${piece.slice(done, start)}~`;
    done = end;
  }
  // What changes from call to call has a digit somewhere.
  return { masked: done === 0 || !hasDigit ? piece : masked + piece.slice(done), signs };
}

/** Longest id of hexadecimal digits. */
const HEX_CHARS = 64;
/** So far from its beginning an id of other letters has a digit. */
const OPENING_CHARS = 8;

/** Where the run of letters and digits begins in which a first digit stands here; -1 where that is too far away for an id. */
function idStart(piece: string, at: number): number {
  let start = at;
  for (; at - start < HEX_CHARS; start -= 1) {
    const before = unitAt(piece, start - 1);
    if (!isLetterOrDigit(before)) return start;
    if (at - start >= OPENING_CHARS - 1 && !isHexUnit(before)) return -1;
  }
  return -1;
}

const SPECIFIC =
  /https?:\/\/[^\s"')\]]+|"[^"\n]{0,400}"|'[^'\n]{0,400}'|`[^`\n]{0,400}`|\[[^\]\n]{0,400}\]|(?:[A-Za-z]:)?(?:[\w.@~-]*[\\/])+[\w.@~-]+|\b[\w-]+\.[a-z]{1,4}\b|\b0x[0-9a-f]+\b|\d+/gi;

/**
 * A line with everything that names a particular thing (paths, quotations, brackets, numbers) replaced, to
 * group errors of one cause. Never used to tell whether a result is new.
 *
 * @param line  a few hundred characters at most
 */
export function strongMask(line: string): string {
  return line.replace(SPECIFIC, '#').replace(/\s+/g, ' ').trim().toLowerCase();
}

/** `lightMask`, and tokens that look like made-up ids too: for failures, which quote the ids of what they refuse. */
export function failureMask(text: string, masked: string = lightMask(text)): string {
  let result = '';
  let done = 0;
  let end = 0;
  // An expression for the whole token is tried at each character, which takes ten times as long.
  for (const { index } of masked.matchAll(DIGIT_AND_LETTER)) {
    if (index < end) continue;
    let start = index;
    while (isLetterOrDigit(unitAt(masked, start - 1))) start -= 1;
    end = index + 2;
    while (isLetterOrDigit(unitAt(masked, end))) end += 1;
    if (end - start < MIN_ID_CHARS || end - start > MAX_ID_CHARS) continue;
    result += `${masked.slice(done, start)}~`;
    done = end;
  }
  return done === 0 ? masked : result + masked.slice(done);
}

/** What no name has that people give, as far as failures go. */
const DIGIT_AND_LETTER = /\d[a-z]/gi;
const MIN_ID_CHARS = 6;
const MAX_ID_CHARS = 40;
