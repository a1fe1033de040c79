import { canonicalJson } from '../../base/canonical-json.ts';
import { isJsonObject, jsonOf, type Json } from '../../base/json.ts';

/** A result without the envelope added by a harness or a protocol. */
export interface OpenedAnswer {
  readonly result: Json;
  /** True if the envelope says that the call failed. */
  readonly failed: boolean;
}

/** Field names of an MCP result. */
const MCP_MEMBER = /^(?:content|is_?error|_?meta|structuredContent|type)$/i;
/** Field names that hold the text of a result with a single field. */
const LONE_NAME = /^(?:result|output|text|content|response|answer|observation|value|data|stdout)$/;
/** Field names of an envelope other than the payload: outcomes, ids, times and durations. */
const ENVELOPE =
  /^(?:success|ok|status|code|errors?|message|_?meta|(?:request|trace)_id|took(?:_ms)?|duration(?:_ms)?|timestamp)$/i;
const PAYLOAD = /^(?:data|result|output|response|payload|body|content)$/;
const SUCCESS_VALUES: ReadonlySet<unknown> = new Set([true, 0, 200, 'ok', 'OK', 'success', undefined]);
const FAILURE_VALUES: ReadonlySet<unknown> = new Set([false, 'error', 'failed', 'failure']);
/** Text wrappers, each with a quick test of the beginning and the complete form. */
const WRAPPINGS: readonly (readonly [opening: RegExp, whole: RegExp])[] = [
  [/^\s*<(?:tool_use_)?error>/, /^\s*<(?:tool_use_)?error>([^]*)<\/\w+>\s*$/],
  [/^\[?\d{4}-/, /^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?Z?\]?:? ([^]*)$/],
  [/^(?:Observation|Result|Output):/, /^\w+: ?([^]*)$/],
  // A message of LangChain in Python's form: content='…' name='search' id='7c2e' tool_call_id='call_1'
  [/^content=['"]/, /^content=['"]([^]*?)['"](?: \w+=(?:'[^']*'|"[^"]*"|\{[^}]*\}|\w+))+\s*$/],
  [/^\s*<(?:output|stdout|result)>/, /^\s*<\w+>\n?([^]*?)\n?<\/(?:output|stdout|result)>\s*$/],
];
const OPENING_CHARS = 80;
const MAX_PARSED_CHARS = 200_000;
/** The beginning of a wrapped result as JSON text. Texts that do not match are not parsed. */
const JSON_OPENING =
  /^\s*(?:\[?\s*\{\s*"(?:type|text)"|\{\s*"id"\s*:[^,]{1,45},\s*"timestamp"|\{\s*"(?:content|isError|is_error|result|output|text|response|answer|observation|value|data|success|ok|status|error|body|payload|request_id|code)")/;
const MAX_DEPTH = 3;

/**
 * Removes the envelope that a harness or a protocol adds to a result. Handles MCP results (`{content: [{type: 'text', …}],
 * isError}`), events of OpenHands, lists of parts, envelopes, objects with a single text field such as `result`, each as a value or as JSON text, and
 * the text wrappers in `WRAPPINGS`. Returns any other result unchanged.
 *
 * Cost: reads the first 40 characters of a text or the keys of an object; one `JSON.parse` if a text begins like JSON.
 */
export function openAnswer(result: Json): OpenedAnswer {
  let opened: OpenedAnswer = { result, failed: false };
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const inner = typeof opened.result === 'string' ? unwrapText(opened.result) : unwrapValue(opened.result);
    if (inner === undefined) break;
    opened = { result: inner.result, failed: opened.failed || inner.failed };
  }
  return opened;
}

function unwrapText(text: string): OpenedAnswer | undefined {
  const opening = text.slice(0, OPENING_CHARS);
  const wrapping = WRAPPINGS.findIndex(([opens]) => opens.test(opening));
  const inner = WRAPPINGS[wrapping]?.[1].exec(text)?.[1];
  if (inner !== undefined) return { result: inner, failed: wrapping === 0 };
  if (text.length > MAX_PARSED_CHARS || !JSON_OPENING.test(opening)) return undefined;
  const value = jsonOf(text);
  return value === undefined ? undefined : unwrapValue(value);
}

function unwrapValue(value: unknown): OpenedAnswer | undefined {
  if (Array.isArray(value)) return joinParts(value);
  if (!isJsonObject(value)) return undefined;
  const picture = pictureText(value);
  if (picture !== undefined) return { result: picture, failed: false };
  const observed = unwrapObservation(value);
  if (observed !== undefined) return observed;
  const names = Object.keys(value);
  const { content } = value;
  if (Array.isArray(content) && names.every((name) => MCP_MEMBER.test(name))) {
    const inner = joinParts(content);
    return inner && { ...inner, failed: value['isError'] === true || value['is_error'] === true };
  }
  const payload = unwrapEnvelope(value, names);
  if (payload !== undefined) return payload;
  const [name = ''] = names;
  const loneValue = names.length === 1 && LONE_NAME.test(name) ? value[name] : undefined;
  return typeof loneValue === 'string' ? { result: loneValue, failed: false } : undefined;
}

/** Returns what a program printed, from an event of OpenHands: its ids, its time and its metadata go. */
function unwrapObservation(value: Readonly<Record<string, unknown>>): OpenedAnswer | undefined {
  const { observation, content, extras, kind } = value;
  if (isJsonObject(observation)) return unwrapObservation(observation);
  const isEvent = typeof observation === 'string' ? isJsonObject(extras) : String(kind).endsWith('Observation');
  const text = Array.isArray(content) ? joinParts(content)?.result : content;
  if (!isEvent || typeof text !== 'string') return undefined;
  const details = isJsonObject(extras) ? extras : value;
  const code =
    details['exit_code'] ?? (isJsonObject(details['metadata']) ? details['metadata']['exit_code'] : undefined);
  const result = typeof code === 'number' ? { output: text, exit_code: code } : text;
  return { result, failed: value['is_error'] === true };
}

/** Returns the payload of an envelope that reports success, or the error message of an envelope that reports a failure. */
function unwrapEnvelope(value: Readonly<Record<string, unknown>>, names: readonly string[]): OpenedAnswer | undefined {
  const payload = names.filter((name) => !ENVELOPE.test(name));
  const [name = ''] = payload;
  if (names.length < 2 || payload.length > 1 || (payload.length === 1 && !PAYLOAD.test(name))) return undefined;
  const { success, ok, status, code, error, errors, message } = value;
  const inner = value[name];
  if ([success, ok, status].some((outcome) => FAILURE_VALUES.has(outcome))) {
    const errorText = isJsonObject(error) ? error['message'] : (error ?? message);
    const isEmpty = (inner ?? null) === null;
    return typeof errorText === 'string' && errorText !== '' && isEmpty
      ? { result: errorText, failed: true }
      : undefined;
  }
  const hasNoError = (error ?? null) === null && (errors ?? null) === null;
  const isSuccess = hasNoError && [success, ok, status, code].every((outcome) => SUCCESS_VALUES.has(outcome));
  // A result is JSON, so each of its fields is JSON.
  return isSuccess && inner !== undefined ? { result: inner as Json, failed: false } : undefined;
}

/** Maximum length of the JSON of a picture without its image data. */
const PICTURE_CHARS = 400;

/** Returns the digest of a picture without image data, or an empty text without a digest. Returns undefined for any other value. */
function pictureText(part: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof part['type'] !== 'string' || !/image|screenshot/.test(part['type'])) return undefined;
  const json = canonicalJson(part);
  if (json.length > PICTURE_CHARS) return undefined;
  const digest = /"digest":"([^"]+)"|digest ([\da-f]+)\]/.exec(json);
  return digest === null ? '' : `[picture, digest: ${digest[1] ?? digest[2] ?? ''}]`;
}

/** Joins the texts in a list of text and picture parts. */
function joinParts(parts: readonly unknown[]): OpenedAnswer | undefined {
  const texts: string[] = [];
  for (const part of parts) {
    if (!isJsonObject(part)) return undefined;
    const text = part['type'] === 'text' ? part['text'] : pictureText(part);
    if (typeof text !== 'string') return undefined;
    texts.push(text);
  }
  return texts.length === 0 ? undefined : { result: texts.join('\n'), failed: false };
}

const REMINDERS = ['system-reminder', 'system-warning'];

/** Removes the reminders that a harness appends to a text. */
export function withoutReminders(text: string): string {
  const trimmed = text.trimEnd();
  const name = REMINDERS.find((tag) => trimmed.endsWith(`</${tag}>`));
  const start = name === undefined ? -1 : trimmed.lastIndexOf(`<${name}>`);
  return start < 0 ? text : withoutReminders(trimmed.slice(0, start).trimEnd());
}
