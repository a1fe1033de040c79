import { canonicalJson } from '../base/canonical-json.ts';
import { isJsonObject, jsonOf, type Json } from '../base/json.ts';
import { SIGN, signsOf } from './word-signs.ts';

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

const EMPTY_CHARS = 200;
const BARE = /^\s*(?:\[\s*\]|\{\s*\}|\(\s*\))?\s*$/;
const HOLDS_EMPTY_LIST = /\[\s*\]/;

/**
 * True for an answer without text, for an empty list or object, and for a short JSON answer that holds an empty list and, but for
 * `ok` and the like, nought beside it: `{"ok": true, "messages": {"total": 0, "matches": []}}`.
 *
 * Cost: a look at a short text; one `JSON.parse` where it holds an empty list.
 */
export function isEmpty(text: string): boolean {
  if (text.length > EMPTY_CHARS) return false;
  if (BARE.test(text)) return true;
  return text.trimStart().startsWith('{') && HOLDS_EMPTY_LIST.test(text) && holdsNothing(jsonOf(text));
}

const GOES_WELL: ReadonlySet<unknown> = new Set([0, true, null, '', 'ok', 'OK', 'success']);

function holdsNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) ? Object.values(value).every((member) => holdsNothing(member)) : GOES_WELL.has(value);
}

export const ACKNOWLEDGEMENT: RegExp =
  /\b(?:ok|okay|done|success(?:ful(?:ly)?)?|succeeded|completed?|created|deleted|removed|updated|edited|saved|wrote|written|added|applied|sent|submitted|installed|moved|renamed|copied|inserted|replaced|changed|posted|stored|finished|accepted|noted|recorded|remembered|acknowledged|true|healthy|passed|no output)\b/i;
/** Longest answer that may say that nothing was changed, or that the work goes on. */
const SHORT_CHARS = 400;

const NO_CHANGE =
  /\bno (?:changes?|op|modifications?|updates?|replacements?)\b|unchanged|already (?:exists|up.to.date|applied|in (?:place|desired state))|nothing (?:to|has|was|happen|change)|not (?:changed|modified)|\b0 (?:rows?|files?|records?|lines?|items?) (?:affected|changed|updated|modified)|no effect|did nothing/i;

function saysNoChange(text: string, signs: number): boolean {
  return (signs & SIGN.noChange) !== 0 && NO_CHANGE.test(text);
}

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
    'stored,finished,accepted,noted,recorded,remembered,acknowledged,true,healthy,passed'
  ).split(','),
);

/** Nothing at all, alone or under a name; beside other facts it is one of them. */
const LONE_NULL = /^\W*(?:[\w-]+\W+)?null\W*$/i;

/** How an interface says in JSON that it was done: a status without a body, or how many things it was done to. */
const JSON_DONE =
  /^\s*\{(?=[^]*"status_?(?:code)?"\s*:\s*20\d\b)(?=[^]*"body"\s*:\s*(?:""|null|\{\s*\}))|"(?:updated|inserted|modified|deleted|affected|created|appended)_?(?:rows|columns|cells|records|items|count)"\s*:\s*\d/i;

/** Longest text that counts as a mere acknowledgement. */
const ACKNOWLEDGEMENT_CHARS = 80;
const LONG_ACKNOWLEDGEMENT_CHARS = 240;

/**
 * True for an answer that only says "done" (`ok`, `written`, nothing at all) and holds no information of its own.
 * `No changes detected` is not one: it says that nothing happened.
 */
export function isAcknowledgement(text: string, signs?: number): boolean {
  if (text.length > LONG_ACKNOWLEDGEMENT_CHARS) return false;
  const trimmed = text.trim();
  if (trimmed === '') return true;
  if (saysNoChange(trimmed, signs ?? signsOf(text))) return false;
  if (trimmed.startsWith('{') && JSON_DONE.test(trimmed)) return true;
  if (trimmed.length <= ACKNOWLEDGEMENT_CHARS) return holdsAcknowledgement(trimmed) || LONE_NULL.test(trimmed);
  // A sentence that says "done" and some fixed advice after it: no data in it, so no digit and no second line.
  const [sentence = ''] = trimmed.split(/[.!] /, 1);
  return sentence.length <= ACKNOWLEDGEMENT_CHARS && !/[\d\n]/.test(trimmed) && holdsAcknowledgement(sentence);
}

const BEGUN = 'started|launched|spawned|submitted|queued|enqueued|scheduled|accepted|sent|dispatched';
const RECEIPT = new RegExp(
  String.raw`^\W*(?:[\w-]+ ){0,4}(?:${BEGUN}|running in (?:the )?background)\b|["'](?:status|state)["']\s*:\s*["'](?:${BEGUN})["']`,
  'i',
);

/** True for a short answer that says that something was begun or handed on. */
export function isReceipt(text: string): boolean {
  return text.length <= LONG_ACKNOWLEDGEMENT_CHARS && RECEIPT.test(text);
}

/** True for a short answer that says that nothing was changed. */
export function saysUnchanged(text: string, signs?: number): boolean {
  return text.length <= SHORT_CHARS && saysNoChange(text, signs ?? signsOf(text));
}

const INEFFECTIVE =
  /nothing (?:happen|changed|was (?:changed|done|affected))|(?:no|without|any) (?:visible |further )?effect\b|did nothing|you can(?:'t|not| not) (?:do|go|see|use|take|open|find)|i (?:don't|do not|didn't) (?:understand|know (?:how|what|the word))|not a (?:valid|legal|known|possible) (?:action|move|verb|command|order)|(?:invalid|illegal|impossible) (?:action|move)|did(?: not|n't) (?:move|change|open|budge|respond|react|work|turn|start|do anything)|(?:path|way|route) (?:is )?blocked/i;

/** True for a short answer that says that an action came to nothing: an order that a game or a device does not take. */
export function saysIneffective(text: string, signs?: number): boolean {
  return text.length <= 200 && ((signs ?? signsOf(text)) & SIGN.ineffective) !== 0 && INEFFECTIVE.test(text);
}

const NEGATIVE = /(?<![\w.])(?:0|no|none|null|nil|not|empty|zero|false|n\/a|never|without)(?![\w.%])|\[\s*\]|\{\s*\}/i;

/** The same in languages with many speakers or many programs. */
const NEGATIVE_FOREIGN =
  /(?<![\p{L}\d.])(?:kein(?:e[mnrs]?)?|nichts|aucune?|rien|ning[uú]n[ao]?|nada|sin|nessun[ao]?|nenhum[a]?|sem|geen|niets|ingen|inga|inget|brak|nic|žádn\p{L}+|нет|ничего|yok|hiçbir)(?!\p{L})|没有|沒有|无结果|无数据|無し|なし|ありません|見つかりません|없습니다|없음/iu;

/** True for a short answer that says none, zero, no, or no change: a finding where things are gone through one by one. */
export function saysNone(text: string, signs?: number): boolean {
  return (
    text.length < 10 ||
    (text.length <= 120 &&
      (NEGATIVE.test(text) || NEGATIVE_FOREIGN.test(text) || saysNoChange(text, signs ?? signsOf(text))))
  );
}

const PENDING =
  /(?<![a-z])(?:still (?:running|waiting|processing|in progress)|(?:pending|awaiting|waiting)(?:_[a-z_]+)?|queued|enqueued|in[ _-]?progress|(?:in|under|awaiting)[ _-]review|not (?:yet )?(?:ready|finished|done|complete|available|started)|not[ _-]started|processing|scheduled|in[ _-]flight)(?![a-z_]|["']\s*:)|^\W*(?:running|starting|initiali[sz]ing|provisioning|preparing)\b|\b(?:status|state|phase|stage)["']?\s*[:=>]\s*["']?[a-z_ ]*(?:ing|submitted|accepted|started)(?![a-z])|["'](?:progress|percent(?:_?complete)?|pct|completion)["']\s*:\s*["']?(?!100|1\.0|1\b)\d|(?<![\d.])\d{1,2}(?:\.\d+)?\s?% (?:done|complete|finished)|["'](?:is_?)?(?:finished|done|ready|completed?)["']\s*:\s*false/i;

const ACTED =
  /^\W*(?:i |successfully )?(?:clicked|pressed|typed|scrolled|tapped|swiped|moved|dragged|hovered|navigated|waited|focused|selected|filled|entered)\b/i;

/** True for an answer that begins with what was done on a screen, whatever it shows of it. */
export function beginsWithAct(text: string): boolean {
  return ACTED.test(text);
}

/** True for an answer of a screen that repeats the action and shows nothing of what came of it. */
export function saysActed(text: string): boolean {
  return text.length <= ACKNOWLEDGEMENT_CHARS && ACTED.test(text) && !NO_CHANGE.test(text);
}

/** What is being done, as a word of its own or as the value of a field: `plotting`, `{"shutter":"opening"}`. */
const DOING = /^\W*([a-z]{3,20}ing)\W*$|["']\s*:\s*["']([a-z]{3,20}ing)["']/;
/** Words of that form that name a thing or say that there is none. */
const THINGS = new Set(
  (
    'nothing anything something everything missing string warning thing spring existing clothing housing building parking ' +
    'shipping billing marketing training wedding pricing landing staging setting meeting morning evening king ring listing ' +
    'heading drawing painting rating ranking booking offering holding greeting outstanding'
  ).split(' '),
);
const DOING_CHARS = 120;

function saysDoing(text: string): boolean {
  if (text.length > DOING_CHARS) return false;
  const found = DOING.exec(text);
  const word = found?.[1] ?? found?.[2];
  return word !== undefined && !THINGS.has(word);
}

/** Says of the whole that it is over, whatever a part of it waits for. */
const OVER = /["'](?:status|state)["']\s*:\s*["'](?:succe|complete|finish|done|ok\b)/i;

/** True for an answer that says "not finished yet". */
export function isPending(text: string, signs?: number): boolean {
  if (text.length > SHORT_CHARS) return false;
  if (saysDoing(text)) return !OVER.test(text);
  return ((signs ?? signsOf(text)) & SIGN.pending) !== 0 && PENDING.test(text) && !OVER.test(text);
}
