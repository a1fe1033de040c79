import { canonicalJson } from '../base/canonical-json.ts';
import { isJsonObject, jsonOf, type Json } from '../base/json.ts';

/** What a tool gave, without what stood around it. */
export interface OpenedAnswer {
  readonly result: Json;
  /** What stood around it says that the call failed. */
  readonly failed: boolean;
}

/** Members of what an MCP server answers. */
const MCP_MEMBER = /^(?:content|is_?error|_?meta|structuredContent|type)$/i;
/** Names under which a lone text is handed over. */
const LONE_NAME = /^(?:result|output|text|content|response|answer|observation|value|data|stdout)$/;
/** Members that say how a call went, or number it, beside what it gave. */
const ENVELOPE =
  /^(?:success|ok|status|code|errors?|message|_?meta|(?:request|trace|correlation)_?id|took(?:_?ms)?|duration(?:_?ms)?|elapsed(?:_?ms)?|timestamp|time|ts|server_time|(?:api_)?version)$/i;
const PAYLOAD = /^(?:data|result|output|response|payload|body|content|value|answer)$/;
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
/** What stands around a text, by how it opens; a tag that speaks of an error says that the call failed. */
const WRAPPINGS: readonly (readonly [opening: RegExp, whole: RegExp])[] = [
  [/^\s*```/, /^\s*```[\w-]*\n((?:(?!```)[^])*?)\n?```\s*$/],
  [
    /^\s*<\w/,
    /^\s*<(?:(?:tool_use_)?error|output|result|tool_result|function_result|response|observation)>([^]*)<\/\w+>\s*$/,
  ],
  // How some agents introduce what a tool gave, and the time before it.
  [/^\[?\d{4}-/, /^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?Z?\]?:? ([^]*)$/],
  [/^[A-Z]\w+(?: \w+)?: ?/, /^(?:Observation|Result|Output|Response|Tool (?:result|output|response)): ?([^]*)$/],
  // The code that Playwright's server ran for the call.
  [/^(?:### |- )?Ran /, /^(?:### |- )?Ran (?:the following )?Playwright code:?\n```js\n[^]*?\n```\n*([^]*)$/],
];
const ERROR_TAG = /^\s*<(?:tool_use_)?error>/;
const OPENING_CHARS = 40;
/** A longer text is taken as it is. */
const MAX_PARSED_CHARS = 200_000;
/** How such an answer begins as JSON text; others are not parsed. */
const JSON_OPENING =
  /^\s*(?:\[?\s*\{\s*"(?:type|text)"|\{\s*"(?:content|isError|is_error|result|output|text|response|answer|observation|value|data|_meta|success|ok|status|error|body|payload|meta|request_id|code|took_ms)")/;
/** A wrapping within a wrapping, and no more. */
const MAX_DEPTH = 3;

/**
 * Takes off what a harness or a protocol puts around an answer: the result of an MCP server (`{content: [{type: 'text', …}],
 * isError}`), its parts, an envelope, a lone text under a name such as `result`, each as a value or as JSON text, and `WRAPPINGS` of
 * texts. Everything else is given back as it is. Of a picture its digest is left.
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
  const wrapping = WRAPPINGS.find(([opens]) => opens.test(opening));
  const inner = wrapping?.[1].exec(text)?.[1];
  if (inner !== undefined) return { result: inner, failed: ERROR_TAG.test(opening) };
  if (text.length > MAX_PARSED_CHARS || !JSON_OPENING.test(opening)) return undefined;
  const value = jsonOf(text);
  // A text that only looks like JSON is what was printed.
  return value === undefined ? undefined : insideValue(value);
}

function insideValue(value: unknown): OpenedAnswer | undefined {
  if (Array.isArray(value)) return insideParts(value);
  if (!isJsonObject(value)) return undefined;
  const picture = pictureText(value);
  if (picture !== undefined) return { result: picture, failed: false };
  const names = Object.keys(value);
  const { content } = value;
  if (Array.isArray(content) && names.every((name) => MCP_MEMBER.test(name))) {
    const inner = insideParts(content);
    return inner && { ...inner, failed: value['isError'] === true || value['is_error'] === true };
  }
  const enveloped = insideEnvelope(value, names);
  if (enveloped !== undefined) return enveloped;
  const [name = ''] = names;
  const lone = names.length === 1 && LONE_NAME.test(name) ? value[name] : undefined;
  return typeof lone === 'string' ? { result: lone, failed: false } : undefined;
}

/** What an envelope holds that says that all went well, or why it did not. */
function insideEnvelope(value: Readonly<Record<string, unknown>>, names: readonly string[]): OpenedAnswer | undefined {
  const payload = names.filter((name) => !ENVELOPE.test(name));
  const [name = ''] = payload;
  if (names.length < 2 || payload.length > 1 || (payload.length === 1 && !PAYLOAD.test(name))) return undefined;
  const { success, ok, status, code, error, errors, message } = value;
  if ([success, ok, status].some((told) => WENT_WRONG.has(told))) {
    const why = isJsonObject(error) ? error['message'] : (error ?? message);
    const isEmpty = (value[name] ?? null) === null;
    return typeof why === 'string' && why !== '' && isEmpty ? { result: why, failed: true } : undefined;
  }
  const isQuiet = (error ?? null) === null && (errors ?? null) === null;
  const well = isQuiet && [success, ok, status, code].every((told) => WENT_WELL.has(told));
  const inner = value[name];
  // What a tool gave is JSON, whatever its type says.
  return well && payload.length === 1 && inner !== undefined ? { result: inner as Json, failed: false } : undefined;
}

/** Longer than a picture whose bytes were left out, with its address and form. */
const PICTURE_CHARS = 400;
const DIGEST = /"digest":"([^"]+)"|digest ([\da-f]+)\]/;

/** A picture whose bytes were left out: by its digest, or nothing where there is none. Undefined for anything else. */
function pictureText(part: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof part['type'] !== 'string' || !/image|screenshot/.test(part['type'])) return undefined;
  const json = canonicalJson(part);
  if (json.length > PICTURE_CHARS) return undefined;
  const found = DIGEST.exec(json);
  return found === null ? '' : `[picture, digest: ${found[1] ?? found[2] ?? ''}]`;
}

/** The text of parts that hold nothing but texts and pictures. */
function insideParts(parts: readonly unknown[]): OpenedAnswer | undefined {
  const texts: string[] = [];
  for (const part of parts) {
    const isText = isJsonObject(part) && part['type'] === 'text';
    const text = isText ? part['text'] : isJsonObject(part) ? pictureText(part) : undefined;
    if (typeof text !== 'string') return undefined;
    texts.push(text);
  }
  return texts.length === 0 ? undefined : { result: texts.join('\n'), failed: false };
}

const REMINDER = '<system-reminder>';
const REMINDER_END = '</system-reminder>';
/** What an agent has left of its own means, in brackets, or that the rest was cut off; what is left of its work is progress. */
const FOOTER =
  /\n[ \t]*(?:[[(](?=[^\n]*\d)(?=[^\n]*\b(?:steps?|tokens?|turns?|budget|credits?|context|actions?|iterations?)\b)(?=[^\n]*(?:\b(?:left|remaining|used)\b|\d ?(?:\/|of) ?\d))[^\n]{0,160}[\])]|(?:\.{3}|…|[[(<])[\s.…[(<]*(?:output |response |result |text )?(?:was |has been )?truncated\b[^\n]{0,80})\s*$/i;
const FOOTER_CHARS = 300;
const MAX_FOOTERS = 4;
/** A line with which a harness counts the steps of its agent, wherever it stands: `Current step: 11/20`. */
const COUNTER = /^[ \t]*(?:current )?(?:step|turn|iteration)\b:?[ \t]*\d+ ?(?:\/|of) ?\d+[ \t]*(?:\n|$)/gim;
const COUNTER_CHARS = 600;

/**
 * The text without what a harness adds to every answer: a reminder at its end, a count in brackets of the steps or tokens that the
 * agent has left (`[Step 16/45 | tokens left: 30600]`), that the rest was cut off; and a line that counts the agent's steps.
 *
 * Cost: a look at the last 300 characters, and at the first 600 where they count steps.
 */
export function withoutFooter(text: string): string {
  const head = text.slice(0, COUNTER_CHARS);
  let rest = head.replace(COUNTER, '') + text.slice(COUNTER_CHARS);
  for (let footers = 0; footers < MAX_FOOTERS; footers += 1) {
    const tail = rest.slice(-FOOTER_CHARS);
    const found = FOOTER.exec(tail);
    const end = rest.trimEnd().endsWith(REMINDER_END)
      ? rest.lastIndexOf(REMINDER)
      : found === null
        ? -1
        : rest.length - tail.length + found.index;
    if (end < 0) break;
    rest = rest.slice(0, end).trimEnd();
  }
  return rest;
}
