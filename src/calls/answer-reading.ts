import { hashText } from '../base/hash.ts';
import { RecentTexts } from '../base/recent-texts.ts';
import { classifyError, type ErrorClass } from './error-class.ts';
import { declaresFailure, inferIsError, withholds } from './infer-error.ts';
import { failureMask, scanText } from './mask.ts';
import {
  isAcknowledgement,
  isEmpty,
  isPending,
  isReceipt,
  saysIneffective,
  saysNone,
  saysUnchanged,
} from './result-text.ts';
import { saysFailureSoftly, tellsFailure } from './told-failure.ts';
import { MIXED_SIGN } from './word-signs.ts';

/** With which the keys of answers are made that were flagged as failures. */
export const FLAGGED_SEED = 1;

const REVISION = /["'](?:rev|revision|seq|sequence|generation|resourceVersion)["']\s*:\s*["']?\d/i;
const REVISIONS = /(["'](?:rev|revision|seq|sequence|generation|resourceVersion)["']\s*:\s*["']?)\d+/gi;

/** What the words of an answer say, whoever was asked. Each thing is found out when it is first asked for. */
export class AnswerReading {
  readonly text: string;
  /** `lightMask` of the text. */
  readonly masked: string;
  readonly #signs: number;
  #maskedKey: string | undefined;
  #flaggedKey: string | undefined;
  #pending: boolean | undefined;
  #refuses: boolean | undefined;
  #tellsAnywhere: boolean | undefined;
  #tellsAtEnd: boolean | undefined;
  #failure: ErrorClass | undefined;
  #declares: boolean | undefined;
  #withholds: boolean | undefined;
  #ineffective: boolean | undefined;
  #acknowledges: boolean | undefined;
  #unchanged: boolean | undefined;
  #saysNone: boolean | undefined;
  #empty: boolean | undefined;
  #receipt: boolean | undefined;

  /** Reads the text itself; `readAnswer` remembers short ones. */
  constructor(text: string) {
    this.text = text;
    const { masked, signs } = scanText(text);
    this.masked = masked;
    this.#signs = signs;
  }

  /** A key of what is masked; an answer that was flagged as a failure never equals one that was not. */
  keyOf(flagged: boolean): string {
    if (flagged) return (this.#flaggedKey ??= hashText(this.masked, FLAGGED_SEED));
    return (this.#maskedKey ??= hashText(this.masked));
  }
  /** The same for what was written: what was made anew under another id, or counted as another revision, is the same again. */
  writtenKey(flagged: boolean): string {
    const countsUp = REVISION.test(this.text);
    if ((this.#signs & MIXED_SIGN) === 0 && !countsUp) return this.keyOf(flagged);
    const masked = failureMask(this.text, this.masked);
    return hashText(countsUp ? masked.replace(REVISIONS, '$1~') : masked, flagged ? FLAGGED_SEED : 0);
  }
  get isPending(): boolean {
    return (this.#pending ??= isPending(this.text, this.#signs));
  }
  /** It reads like a failure at its head or its tail. */
  get refuses(): boolean {
    return (this.#refuses ??= inferIsError(this.text) || saysFailureSoftly(this.text, this.#signs));
  }
  /** A line of it tells of a failure, and the end takes nothing back. */
  get tellsAnywhere(): boolean {
    return (this.#tellsAnywhere ??= tellsFailure(this.text, true, this.#signs));
  }
  /** Its last lines tell of a failure. */
  get tellsAtEnd(): boolean {
    return (this.#tellsAtEnd ??= tellsFailure(this.text, false, this.#signs));
  }
  /** What kind of failure it is, if it is one. */
  get failure(): ErrorClass {
    return (this.#failure ??= classifyError(this.text, this.masked));
  }
  get declaresFailure(): boolean {
    return (this.#declares ??= declaresFailure(this.text));
  }
  /** What was to be done was not, and it says why. */
  get withholds(): boolean {
    return (this.#withholds ??= withholds(this.text));
  }
  get isIneffective(): boolean {
    return (this.#ineffective ??= saysIneffective(this.text, this.#signs));
  }
  get acknowledges(): boolean {
    return (this.#acknowledges ??= isAcknowledgement(this.text, this.#signs));
  }
  get isUnchanged(): boolean {
    return (this.#unchanged ??= saysUnchanged(this.text, this.#signs));
  }
  /** It holds nothing: no text, or an empty list. */
  get isEmpty(): boolean {
    return (this.#empty ??= isEmpty(this.text));
  }
  /** It says that something was begun or handed on. */
  get isReceipt(): boolean {
    return (this.#receipt ??= isReceipt(this.text));
  }
  get saysNone(): boolean {
    return (this.#saysNone ??= saysNone(this.text, this.#signs));
  }
}

/** Longer answers are read anew and not kept: they seldom come again, and are the reason why results are not kept at all. */
const REMEMBERED_CHARS = 1_000;
const REMEMBERED_ANSWERS = 512;
const known = new RecentTexts(REMEMBERED_ANSWERS, (text) => new AnswerReading(text));

/**
 * Reads an answer. In recorded runs of agents a quarter to nine tenths of the short answers are, to the letter, among the last
 * hundred: loops repeat, tools say "ok", tables are missing by the same name. Such an answer is read once.
 *
 * Pure: what is remembered only saves work. Memory: 512 answers of 1,000 characters at most, over all runs of the process.
 */
export function readAnswer(text: string): AnswerReading {
  return text.length > REMEMBERED_CHARS ? new AnswerReading(text) : known.get(text);
}
