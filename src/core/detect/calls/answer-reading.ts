import { hashText } from '../../base/hash.ts';
import { RecentTexts } from '../../base/recent-texts.ts';
import { answerMatches, inferIsError, reportsFailure, reportsFailureAsJson, rulesOf } from './answer-rules.ts';
import { classifyError, type ErrorClass } from './error-class.ts';
import { lightMask, masksOf } from './mask.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { isJsonObject, type Json } from '../../base/json.ts';

/** Returns the text of a tool result: a string unchanged, the text parts of a content list, or any other value as JSON. */
export function resultText(result: Json): string {
  if (typeof result === 'string') return result;
  if (result === null) return '';
  if (Array.isArray(result)) {
    const parts: string[] = [];
    for (const part of result as readonly unknown[]) {
      if (typeof part === 'string') parts.push(part);
      else if (isJsonObject(part) && typeof part['text'] === 'string') parts.push(part['text']);
      else return canonicalJson(result);
    }
    return parts.join('\n');
  }
  return canonicalJson(result);
}

/** Hash seed for results that are flagged as failures. It keeps their keys different from the keys of successful results. */
export const FLAGGED_SEED = 1;

/** Source of the numbers: of 596 short masked texts of recorded runs, checksums, dates and paths are a quarter and more, durations a sixth and less. */
const STATEMENT_CHARS = 120;
const CONTENT_SHARE = 4;
/** A time before the words, as in a log, or one member of an object among others. */
const ASIDE = /^\s*\{[^]*,|^\D{0,12}\d{1,4}[-:/]\d\d[-:/][\d:.,TZ+-]+(?: [\d:.,Z+-]+)?\W+[a-z]/i;
const SOFT_REFUSAL_CHARS = 200;
/** Maximum length of a sentence that is an acknowledgement. */
const SENTENCE_CHARS = 80;

/** The interpretation of a result, independent of its call. Each property is computed on first use. */
export class AnswerReading {
  readonly text: string;
  #masked: string | undefined;
  #refuses: boolean | undefined;
  #reportsAnywhere: boolean | undefined;
  #failure: ErrorClass | undefined;
  #acknowledges: boolean | undefined;

  /** Prefer `readAnswer`, which caches short texts. */
  constructor(text: string) {
    this.text = text;
  }

  get masked(): string {
    return (this.#masked ??= this.#mask());
  }
  keyOf(isFlagged: boolean): string {
    return hashText(this.masked, isFlagged ? FLAGGED_SEED : 0);
  }
  get isPending(): boolean {
    return answerMatches('pending', this.text);
  }
  /** True if the beginning or the end of the text reads like a failure, or if the text refuses the call (rule `refuses-softly`). */
  get refuses(): boolean {
    return (this.#refuses ??=
      inferIsError(this.text) || answerMatches('refuses', this.text.slice(0, SOFT_REFUSAL_CHARS)));
  }
  /** True if any line reports a failure and the last line does not report success. */
  get reportsFailureAnywhere(): boolean {
    return (this.#reportsAnywhere ??= reportsFailure(this.text));
  }
  get failure(): ErrorClass {
    return (this.#failure ??= classifyError(this.text));
  }
  /** True if a JSON field says that the call failed. This is as reliable as an error flag. */
  get declaresFailure(): boolean {
    return reportsFailureAsJson(this.text);
  }
  get isUnchanged(): boolean {
    return answerMatches('noChange', this.text);
  }
  get isEmpty(): boolean {
    return /^\s*(?:\[\s*\]|\{\s*\})?\s*$/.test(this.text);
  }
  /** True if the result only says "done" (`ok`, `written`, or nothing). */
  get acknowledges(): boolean {
    return (this.#acknowledges ??= this.#isAcknowledgement());
  }
  rules(): readonly string[] {
    const masks = this.masked === this.text ? [] : masksOf(this.text);
    return [...rulesOf(this.text), ...masks.map((id) => `mask-${id}`)];
  }

  /** What is masked beside words is a time or an id of the call. What makes up much of a short answer is the answer itself. */
  #mask(): string {
    const { text } = this;
    const masked = lightMask(text);
    if (masked === text || text.length > STATEMENT_CHARS || ASIDE.test(text)) return masked;
    const isAnswer = CONTENT_SHARE * (text.length - masked.replaceAll('~', '').length) >= text.length;
    return isAnswer && !this.refuses && !this.isPending && !this.acknowledges ? text : masked;
  }

  #isAcknowledgement(): boolean {
    const text = this.text.trim();
    if (text === '') return true;
    if (text.length > SENTENCE_CHARS || this.isUnchanged) return false;
    return answerMatches('done', text);
  }
}

/** Results with more characters rarely repeat. */
const REMEMBERED_CHARS = 1_000;
const REMEMBERED_ANSWERS = 512;
const recentReadings = new RecentTexts(REMEMBERED_ANSWERS, (text) => new AnswerReading(text));

/** 25 to 90 percent of recorded short results equal one of the last hundred. Memory: 512 results of 1,000 characters. */
export function readAnswer(text: string): AnswerReading {
  return text.length > REMEMBERED_CHARS ? new AnswerReading(text) : recentReadings.get(text);
}
