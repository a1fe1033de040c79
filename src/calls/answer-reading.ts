import { hashText } from '../base/hash.ts';
import { isJsonObject, jsonOf } from '../base/json.ts';
import { RecentTexts } from '../base/recent-texts.ts';
import { inferIsError, jsonFailure, ruleSaying, rulesOf, tellsFailure, type AnswerSays } from './answer-rules.ts';
import { classifyError, type ErrorClass } from './error-class.ts';
import { failureMask, lightMask, masksOf } from './mask.ts';

/** With which the keys of answers are made that were flagged as failures. */
export const FLAGGED_SEED = 1;

const REVISIONS = /(["'](?:rev|revision|seq|sequence|generation|resourceVersion)["']\s*:\s*["']?)\d+/gi;
const SOFT_CHARS = 200;
/** Longest text that counts as a mere acknowledgement. */
const ACKNOWLEDGEMENT_CHARS = 80;
const LONG_ACKNOWLEDGEMENT_CHARS = 240;
const EMPTY_CHARS = 200;

/** What the words of an answer say, whoever was asked. Each thing is found out when it is first asked for. */
export class AnswerReading {
  readonly text: string;
  readonly #said: Partial<Record<AnswerSays, boolean>> = {};
  #masked: string | undefined;
  #key: string | undefined;
  #flaggedKey: string | undefined;
  #refuses: boolean | undefined;
  #tellsAnywhere: boolean | undefined;
  #tellsAtEnd: boolean | undefined;
  #failure: ErrorClass | undefined;
  #declaresFailure: boolean | undefined;
  #isEmpty: boolean | undefined;
  #acknowledges: boolean | undefined;

  /** Reads the text itself; `readAnswer` remembers short ones. */
  constructor(text: string) {
    this.text = text;
  }

  /** `lightMask` of the text. */
  get masked(): string {
    return (this.#masked ??= lightMask(this.text));
  }
  /** A key of what is masked; an answer that was flagged as a failure never equals one that was not. */
  keyOf(flagged: boolean): string {
    return flagged
      ? (this.#flaggedKey ??= hashText(this.masked, FLAGGED_SEED))
      : (this.#key ??= hashText(this.masked, 0));
  }
  /** The same for what was written: what was made again under another id, or counted as another revision, is the same. */
  writtenKey(flagged: boolean): string {
    return hashText(failureMask(this.text).replace(REVISIONS, '$1~'), flagged ? FLAGGED_SEED : 0);
  }
  get isPending(): boolean {
    return this.#says('pending') && !this.#says('over');
  }
  /** It reads like a failure at its head or its tail, or refuses softly. */
  get refuses(): boolean {
    return (this.#refuses ??=
      inferIsError(this.text) || ruleSaying('refuses', this.text.slice(0, SOFT_CHARS)) !== undefined);
  }
  /** A line of it tells of a failure, and the end takes nothing back. */
  get tellsAnywhere(): boolean {
    return (this.#tellsAnywhere ??= tellsFailure(this.text, true));
  }
  /** Its last lines tell of a failure. */
  get tellsAtEnd(): boolean {
    return (this.#tellsAtEnd ??= tellsFailure(this.text, false));
  }
  /** What kind of failure it is, if it is one. */
  get failure(): ErrorClass {
    return (this.#failure ??= classifyError(this.text));
  }
  /** It declares a failure as JSON, which is a flag in another place. */
  get declaresFailure(): boolean {
    return (this.#declaresFailure ??= jsonFailure(this.text) === 'declared');
  }
  get isIneffective(): boolean {
    return this.#says('ineffective');
  }
  get isUnchanged(): boolean {
    return this.#says('noChange');
  }
  /** It says that something was begun or handed on. */
  get isReceipt(): boolean {
    return this.#says('receipt');
  }
  /** It says none, zero, no, or no change: a finding where things are gone through one by one. */
  get saysNone(): boolean {
    return this.text.length < 10 || this.#says('none') || this.#says('noChange');
  }
  /** The call was not made: another one of its turn failed, or it was interrupted. */
  get wasNotRun(): boolean {
    return this.#says('notRun');
  }
  /** It begins with what was done on a screen. */
  get actsOnScreen(): boolean {
    return this.#says('acts');
  }
  /** It holds nothing: no text, an empty list or object, or an empty list and nothing beside it but `ok` and the like. */
  get isEmpty(): boolean {
    return (this.#isEmpty ??= isEmpty(this.text));
  }
  /** It only says "done" (`ok`, `written`, nothing at all); `No changes detected` says that nothing happened. */
  get acknowledges(): boolean {
    return (this.#acknowledges ??= this.#isAcknowledgement());
  }
  /** Ids of the reading rules that hold of it, and of those that mask a part of it. */
  rules(): readonly string[] {
    return [...rulesOf(this.text), ...masksOf(this.text).map((id) => `mask-${id}`)];
  }

  #says(what: AnswerSays): boolean {
    return (this.#said[what] ??= ruleSaying(what, this.text) !== undefined);
  }
  #isAcknowledgement(): boolean {
    const text = this.text.trim();
    if (text === '') return true;
    if (text.length > LONG_ACKNOWLEDGEMENT_CHARS || this.isUnchanged) return false;
    if (this.#says('doneInJson')) return true;
    // A sentence that says "done" and some fixed advice after it: no data in it, so no digit and no second line.
    const [sentence = ''] = text.length <= ACKNOWLEDGEMENT_CHARS ? [text] : text.split(/[.!] /, 1);
    if (sentence !== text && /[\d\n]/.test(text)) return false;
    return sentence.length <= ACKNOWLEDGEMENT_CHARS && ruleSaying('done', sentence) !== undefined;
  }
}

const GOES_WELL: ReadonlySet<unknown> = new Set([0, true, null, '', 'ok', 'OK', 'success']);

function isEmpty(text: string): boolean {
  if (text.length > EMPTY_CHARS) return false;
  if (/^\s*(?:\[\s*\]|\{\s*\}|\(\s*\))?\s*$/.test(text)) return true;
  return text.trimStart().startsWith('{') && /\[\s*\]/.test(text) && holdsNothing(jsonOf(text));
}

function holdsNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) ? Object.values(value).every((member) => holdsNothing(member)) : GOES_WELL.has(value);
}

/** Longer answers are read each time and not kept: they seldom come again, and are the reason why results are not kept at all. */
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
