import { hashText } from '../base/hash.ts';
import { RecentTexts } from '../base/recent-texts.ts';
import {
  answerSays,
  inferIsError,
  reportsFailure,
  reportsFailureAsJson,
  rulesOf,
  type AnswerSays,
} from './answer-rules.ts';
import { classifyError, type ErrorClass } from './error-class.ts';
import { lightMask, masksOf } from './mask.ts';

/** Seed of the keys of answers that were flagged as failures, which never equal those of successes. */
export const FLAGGED_SEED = 1;

const SOFT_CHARS = 200;
/** Longest sentence that counts as a mere acknowledgement, and longest text that begins with one. */
const SENTENCE_CHARS = 80;
const ACKNOWLEDGEMENT_CHARS = 240;

/** The reading of an answer, independent of the call. Each property is computed on first use. */
export class AnswerReading {
  readonly text: string;
  readonly #statements: Partial<Record<AnswerSays, boolean>> = {};
  #masked: string | undefined;
  #keys: readonly [success: string | undefined, failure: string | undefined] = [undefined, undefined];
  #refuses: boolean | undefined;
  #reportsAnywhere: boolean | undefined;
  #failure: ErrorClass | undefined;
  #acknowledges: boolean | undefined;

  /** Prefer `readAnswer`, which remembers short texts. */
  constructor(text: string) {
    this.text = text;
  }

  /** `lightMask` of the text. */
  get masked(): string {
    return (this.#masked ??= lightMask(this.text));
  }
  /** Key of the masked text. */
  keyOf(flagged: boolean): string {
    const known = this.#keys[flagged ? 1 : 0];
    if (known !== undefined) return known;
    const key = hashText(this.masked, flagged ? FLAGGED_SEED : 0);
    this.#keys = flagged ? [this.#keys[0], key] : [key, this.#keys[1]];
    return key;
  }
  get isPending(): boolean {
    return this.#says('pending');
  }
  /** The head or the tail reads like a failure, or the answer refuses softly. */
  get refuses(): boolean {
    return (this.#refuses ??= inferIsError(this.text) || answerSays('refuses', this.text.slice(0, SOFT_CHARS)));
  }
  /** Any line reports a failure, and the end does not outweigh it. */
  get reportsFailureAnywhere(): boolean {
    return (this.#reportsAnywhere ??= reportsFailure(this.text, true));
  }
  /** The last lines report a failure. */
  get reportsFailureAtEnd(): boolean {
    return reportsFailure(this.text, false);
  }
  /** The class of the failure, if the call failed. */
  get failure(): ErrorClass {
    return (this.#failure ??= classifyError(this.text));
  }
  /** A JSON member says that the call failed, which is as good as a flag. */
  get declaresFailure(): boolean {
    return reportsFailureAsJson(this.text);
  }
  get isUnchanged(): boolean {
    return this.#says('noChange');
  }
  /** None, zero, no, or no change: a valid finding for one item of a list. */
  get saysNone(): boolean {
    return this.text.length < 10 || this.#says('none') || this.#says('noChange');
  }
  /** The host skipped the call. */
  get wasNotRun(): boolean {
    return this.#says('notRun');
  }
  /** No text, an empty list or an empty object. */
  get isEmpty(): boolean {
    return /^\s*(?:\[\s*\]|\{\s*\})?\s*$/.test(this.text);
  }
  /** Only "done" (`ok`, `written`, or nothing). */
  get acknowledges(): boolean {
    return (this.#acknowledges ??= this.#isAcknowledgement());
  }
  /** Ids of the reading rules that match, and of the rules that mask a part of the answer. */
  rules(): readonly string[] {
    return [...rulesOf(this.text), ...masksOf(this.text).map((id) => `mask-${id}`)];
  }

  #says(what: AnswerSays): boolean {
    return (this.#statements[what] ??= answerSays(what, this.text));
  }
  #isAcknowledgement(): boolean {
    const text = this.text.trim();
    if (text === '') return true;
    if (text.length > ACKNOWLEDGEMENT_CHARS || this.isUnchanged) return false;
    // A sentence that says "done", perhaps with fixed advice after it: no data, so no digit and no second line.
    const [sentence = ''] = text.length <= SENTENCE_CHARS ? [text] : text.split(/[.!] /, 1);
    if (sentence !== text && /[\d\n]/.test(text)) return false;
    return sentence.length <= SENTENCE_CHARS && answerSays('done', sentence);
  }
}

/** Longer answers rarely recur. */
const REMEMBERED_CHARS = 1_000;
const REMEMBERED_ANSWERS = 512;
const recent = new RecentTexts(REMEMBERED_ANSWERS, (text) => new AnswerReading(text));

/**
 * Reads an answer. A quarter to nine tenths of the short answers in recorded runs repeat one of the last hundred to the letter;
 * those are read once. Memory: at most 512 answers of 1,000 characters per process.
 */
export function readAnswer(text: string): AnswerReading {
  return text.length > REMEMBERED_CHARS ? new AnswerReading(text) : recent.get(text);
}
