import { canonicalJson } from '../base/canonical-json.ts';
import { isJsonObject, jsonOf, type Json } from '../base/json.ts';

/** What a tool gave, without what stood around it. */
export interface OpenedAnswer {
  readonly result: Json;
  /** What stood around it says that the call failed. */
  readonly failed: boolean;
}

/** Members of what an MCP server answers. */
const MCP_MEMBERS: ReadonlySet<string> = new Set([
  'content',
  'isError',
  'is_error',
  '_meta',
  'meta',
  'structuredContent',
  'type',
]);
/** Names under which a lone text is handed over. */
const LONE_NAMES: ReadonlySet<string> = new Set(
  'result output text content response answer observation value data stdout'.split(' '),
);
/** Members that say how a call went, or number it, beside what it gave. */
const ENVELOPE: ReadonlySet<string> = new Set(
  (
    'success ok status code error errors message meta _meta request_id requestId trace_id traceId correlation_id took_ms tookMs ' +
    'took duration duration_ms durationMs elapsed elapsed_ms elapsedMs timestamp time ts server_time version api_version'
  ).split(' '),
);
const PAYLOADS: ReadonlySet<string> = new Set(
  'data result output response payload body content value answer'.split(' '),
);
const WENT_WELL: ReadonlySet<unknown> = new Set([
  true,
  0,
  200,
  'ok',
  'OK',
  'success',
  'SUCCESS',
  'succeeded',
  undefined,
]);
const WENT_WRONG: ReadonlySet<unknown> = new Set([false, 'error', 'ERROR', 'failed', 'failure']);
const FENCED = /^\s*```[\w-]*\n([^]*?)\n?```\s*$/;
/** How some agents introduce what a tool gave, and the time before it. */
const INTRODUCTION =
  /^(?:(?:Observation|Result|Output|Response|Tool (?:result|output|response)): ?|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?Z?\]?:? )/;
const TAGGED =
  /^\s*<(tool_use_error|error|output|result|tool_result|function_result|response|observation)>([^]*)<\/\1>\s*$/;
const ERROR_TAG = /error/;
/** With which the Playwright MCP server opens its answers: the code that the call was turned into. */
const CODE_ECHO = /^(?:### |- )?Ran (?:the following )?Playwright code:?\n```js\n[^]*?\n```\n*/;
const CODE_ECHO_WORDS = 'Playwright code';
/** How such an answer begins as JSON text; others are not parsed. */
const JSON_OPENING =
  /^\s*(?:\[?\s*\{\s*"(?:type|text)"|\{\s*"(?:content|isError|is_error|result|output|text|response|answer|observation|value|data|_meta|success|ok|status|error|body|payload|meta|request_id|code|took_ms)")/;
const OPENING_CHARS = 40;
/** A longer text is taken as it is. */
const MAX_PARSED_CHARS = 200_000;
/** A wrapping within a wrapping, and no more. */
const MAX_DEPTH = 3;

/**
 * Takes off what a harness or a protocol puts around an answer: the result of an MCP server (`{content: [{type: 'text', …}],
 * isError}`), its parts, a lone text under a name such as `result`, each as a value or as JSON text, and a tag such as
 * `<tool_use_error>`, and the code that a browser was given for the call. Everything else is given back as it is.
 *
 * Cost: a look at the first 40 characters of a text and at the members of an object; one `JSON.parse` where it begins so.
 */
export function openAnswer(result: Json): OpenedAnswer {
  let opened: OpenedAnswer = { result, failed: false };
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const inner = typeof opened.result === 'string' ? insideText(opened.result) : insideValue(opened.result);
    if (inner === undefined) break;
    opened = { result: inner.result, failed: opened.failed || inner.failed };
  }
  return opened;
}

function insideText(text: string): OpenedAnswer | undefined {
  const opening = text.slice(0, OPENING_CHARS);
  if (opening.includes(CODE_ECHO_WORDS)) {
    const bare = text.replace(CODE_ECHO, '');
    return bare === text ? undefined : { result: bare, failed: false };
  }
  if (opening.trimStart().startsWith('<')) {
    const found = TAGGED.exec(text);
    return found === null ? undefined : { result: found[2] ?? '', failed: ERROR_TAG.test(found[1] ?? '') };
  }
  const introduced = INTRODUCTION.exec(opening);
  if (introduced !== null) return { result: text.slice(introduced[0].length), failed: false };
  if (opening.trimStart().startsWith('```')) {
    const inner = FENCED.exec(text)?.[1];
    return inner === undefined || inner.includes('```') ? undefined : { result: inner, failed: false };
  }
  if (text.length > MAX_PARSED_CHARS || !JSON_OPENING.test(opening)) return undefined;
  const value = jsonOf(text);
  // A text that only looks like JSON is what was printed.
  return value === undefined ? undefined : insideValue(value);
}

function insideValue(value: unknown): OpenedAnswer | undefined {
  if (Array.isArray(value)) return insideParts(value);
  if (!isJsonObject(value)) return undefined;
  if (isBareImage(value)) return { result: '', failed: false };
  const names = Object.keys(value);
  const { content } = value;
  if (Array.isArray(content) && names.every((name) => MCP_MEMBERS.has(name))) {
    const inner = insideParts(content);
    const failed = value['isError'] === true || value['is_error'] === true;
    return inner === undefined ? undefined : { ...inner, failed };
  }
  const enveloped = insideEnvelope(value, names);
  if (enveloped !== undefined) return enveloped;
  const [name = ''] = names;
  const lone = names.length === 1 && LONE_NAMES.has(name) ? value[name] : undefined;
  return typeof lone === 'string' ? { result: lone, failed: false } : undefined;
}

/** What an envelope holds that says that all went well, or why it did not. */
function insideEnvelope(value: Readonly<Record<string, unknown>>, names: readonly string[]): OpenedAnswer | undefined {
  const payload = names.filter((name) => !ENVELOPE.has(name));
  const [name = ''] = payload;
  if (names.length < 2 || payload.length > 1 || (payload.length === 1 && !PAYLOADS.has(name))) return undefined;
  const { success, ok, status, code, error, errors, message } = value;
  if ([success, ok, status].some((told) => WENT_WRONG.has(told))) {
    const why = isJsonObject(error) ? error['message'] : (error ?? message);
    const isEmpty = payload.length === 0 || value[name] === null || value[name] === undefined;
    return typeof why === 'string' && why !== '' && isEmpty ? { result: why, failed: true } : undefined;
  }
  const isQuiet = (error ?? null) === null && (errors === undefined || errors === null || isEmptyList(errors));
  const well = isQuiet && [success, ok, status, code].every((told) => WENT_WELL.has(told));
  const inner = value[name];
  // What a tool gave is JSON, whatever its type says.
  return well && payload.length === 1 && inner !== undefined ? { result: inner as Json, failed: false } : undefined;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Longer than an image whose data was left out, with its address and form. */
const BARE_IMAGE_CHARS = 400;

/** An image whose data was left out: a screen of which nothing can be told. */
function isBareImage(part: unknown): boolean {
  if (!isJsonObject(part) || typeof part['type'] !== 'string' || !/image|screenshot/.test(part['type'])) return false;
  return canonicalJson(part).length <= BARE_IMAGE_CHARS;
}

/** The text of parts that hold nothing else that can be told. */
function insideParts(parts: readonly unknown[]): OpenedAnswer | undefined {
  const texts: string[] = [];
  for (const part of parts) {
    if (isBareImage(part)) texts.push('');
    else if (isJsonObject(part) && part['type'] === 'text' && typeof part['text'] === 'string')
      texts.push(part['text']);
    else return undefined;
  }
  return texts.length === 0 ? undefined : { result: texts.join('\n'), failed: false };
}

const REMINDER = '<system-reminder>';
const REMINDER_END = '</system-reminder>';
/** Longer than what a harness counts down in brackets. */
const COUNT_CHARS = 160;
/** What an agent has left of its own means; what is left of its work is progress. */
const MEANS = /\b(?:steps?|tokens?|turns?|budget|credits?|context|actions?|iterations?)\b/i;
const LEFT = /\b(?:left|remaining|used)\b|\d ?(?:\/|of) ?\d/i;

/**
 * The text without what a harness adds to the end of every answer: a reminder, and a count in brackets of the steps or tokens
 * that the agent has left (`[Step 16/45 | tokens left: 30600]`), which is another one each time, and that the rest was cut off.
 *
 * Cost: a look at the last character, and at the last line where that may be one.
 */
export function withoutFooter(text: string): string {
  let rest = text;
  for (let footers = 0; footers < MAX_FOOTERS; footers += 1) {
    const start = footerStart(rest);
    if (start === undefined) break;
    rest = rest.slice(0, start).trimEnd();
  }
  return rest;
}

const MAX_FOOTERS = 4;
const FOOTER_ENDS = [']', ')', '>', 'truncated', '...', '…'];
/** A line that says that what follows was cut off. */
const CUT =
  /^(?:\.{3}|…|[[(<])[\s.…[(<]*(?:output |response |result |text )?(?:was |has been )?truncated\b[^\n]{0,80}$/i;

function footerStart(text: string): number | undefined {
  const end = text.trimEnd();
  if (end.endsWith(REMINDER_END)) {
    const start = end.lastIndexOf(REMINDER);
    return start < 0 ? undefined : start;
  }
  if (!FOOTER_ENDS.some((sign) => end.endsWith(sign))) return undefined;
  const start = end.lastIndexOf('\n') + 1;
  // What stands alone is no footer: it may be the answer as JSON.
  if (start === 0 || end.length - start > COUNT_CHARS) return undefined;
  const line = end.slice(start).trimStart();
  if (CUT.test(line)) return start;
  const isCount = (line.startsWith('[') || line.startsWith('(')) && MEANS.test(line) && LEFT.test(line);
  return isCount && /\d/.test(line) ? start : undefined;
}
