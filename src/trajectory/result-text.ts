import { canonicalJson } from '../base/canonical-json.ts';
import { isJsonObject, type Json } from '../base/json.ts';

/** The text of a tool's result: a string as it is, the text parts of a content list, anything else as JSON. */
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

export const ACKNOWLEDGEMENT: RegExp =
  /\b(?:ok|okay|done|success(?:ful(?:ly)?)?|succeeded|completed?|created|deleted|removed|updated|edited|saved|wrote|written|added|applied|sent|submitted|installed|moved|renamed|copied|inserted|replaced|changed|posted|stored|finished|accepted|true|null|healthy|passed|no output)\b/i;
const NO_CHANGE =
  /\bno (?:changes?|op|modifications?|updates?)\b|unchanged|already (?:exists|up.to.date|applied)|nothing to|not (?:changed|modified)/i;

/** The pattern is tried only where it may match: a short-lived process need not compile it. */
function saysNoChange(text: string): boolean {
  const small = text.toLowerCase();
  return NO_CHANGE_PARTS.some((part) => small.includes(part)) && NO_CHANGE.test(text);
}

/** One of these is in every match of `NO_CHANGE`. */
const NO_CHANGE_PARTS = ['no ', 'unchanged', 'already ', 'nothing to', 'not '];

/** The same as `ACKNOWLEDGEMENT.test`, without it. */
export function holdsAcknowledgement(text: string): boolean {
  let before = '';
  for (const part of text.split(/\W+/)) {
    const word = part.toLowerCase();
    if (ACKNOWLEDGING.has(word)) return true;
    if (before === 'no' && word === 'output') return ACKNOWLEDGEMENT.test(text);
    before = word;
  }
  return false;
}

/** The words of `ACKNOWLEDGEMENT`; `no output` is two. */
const ACKNOWLEDGING: ReadonlySet<string> = new Set(
  (
    'ok,okay,done,success,successful,successfully,succeeded,complete,completed,created,deleted,removed,updated,edited,' +
    'saved,wrote,written,added,applied,sent,submitted,installed,moved,renamed,copied,inserted,replaced,changed,posted,' +
    'stored,finished,accepted,true,null,healthy,passed'
  ).split(','),
);

/** Longest text that counts as a mere acknowledgement. */
const ACKNOWLEDGEMENT_CHARS = 80;
const LONG_ACKNOWLEDGEMENT_CHARS = 240;

/**
 * True for an answer that only says "done" (`ok`, `written`, nothing at all) and holds no information of its own.
 * `No changes detected` is not one: it says that nothing happened.
 */
export function isAcknowledgement(text: string): boolean {
  if (text.length > LONG_ACKNOWLEDGEMENT_CHARS) return false;
  const trimmed = text.trim();
  if (trimmed === '') return true;
  if (saysNoChange(trimmed)) return false;
  if (trimmed.length <= ACKNOWLEDGEMENT_CHARS) return holdsAcknowledgement(trimmed);
  // A sentence that says "done" and some fixed advice after it: no data in it, so no digit and no second line.
  const [sentence = ''] = trimmed.split(/[.!] /, 1);
  return sentence.length <= ACKNOWLEDGEMENT_CHARS && !/[\d\n]/.test(trimmed) && holdsAcknowledgement(sentence);
}

/** True for a short answer that says that nothing was changed. */
export function saysUnchanged(text: string): boolean {
  return text.length <= 400 && saysNoChange(text);
}

const PENDING =
  /\b(?:still (?:running|waiting|processing)|pending|queued|in[ _-]progress|not (?:yet )?(?:ready|finished|done|complete)|waiting|processing|scheduled)\b|^\W*(?:running|starting|initiali[sz]ing|provisioning)\b|\b(?:status|state)["']?\s*[:=>]\s*["']?(?:running|starting|initiali[sz]ing|provisioning|creating|building|deploying)\b/i;

const ACTED =
  /^\W*(?:i |successfully )?(?:clicked|pressed|typed|scrolled|tapped|swiped|moved|dragged|hovered|navigated|waited|focused|selected|filled|entered)\b/i;

/** True for an answer of a screen that repeats the action and shows nothing of what came of it. */
export function saysActed(text: string): boolean {
  return text.length <= ACKNOWLEDGEMENT_CHARS && ACTED.test(text) && !NO_CHANGE.test(text);
}

/** True for an answer that says "not finished yet". */
export function isPending(text: string): boolean {
  return text.length <= 400 && PENDING.test(text);
}
