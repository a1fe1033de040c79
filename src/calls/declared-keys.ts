import { isJsonObject, jsonOf, type Json } from '../base/json.ts';
import type { ToolDeclaration } from './tool-semantics.ts';

/**
 * The arguments that say what a call is about: those declared in `loopKey`, or, where none of them is there, all but what is
 * new each time and changes nothing: receipts (`request_id`), remarks (`explanation`), pauses (`wait_before_s`), and the handles
 * under which a page lists its elements (`ref: 'e44'`) beside a label.
 */
export function loopArgs(args: Json, declaration: ToolDeclaration | undefined): Json {
  return picked(args, declaration?.loopKey) ?? withoutAsides(args);
}

const RECEIPTS = new Set(
  (
    'request_id requestId req_id reqId client_request_id clientRequestId idempotency_key idempotencyKey idempotency_token ' +
    'client_token clientToken ClientToken nonce trace_id traceId span_id correlation_id correlationId timestamp ts'
  ).split(' '),
);
/** How long a tool is to wait before it looks, beside what it looks at. */
const WAITS = new Set(
  (
    'wait delay sleep pause wait_s wait_ms wait_seconds wait_time wait_before wait_before_s wait_before_ms delay_s delay_ms ' +
    'delay_seconds sleep_s sleep_ms sleep_seconds waitMs waitSeconds delayMs delaySeconds poll_interval interval_s'
  ).split(' '),
);
const REMARKS = new Set('explanation reason rationale justification thought reasoning'.split(' '));
/** These say why a call is made, also where nothing else is handed over; a lone thought is what a tool is given. */
const EXPLANATIONS = new Set(['explanation', 'rationale', 'justification']);
const HANDLES = new Set(
  'ref uid element_id elementId element_ref elementRef node_id nodeId backend_node_id handle'.split(' '),
);
const ASIDES: ReadonlySet<string> = new Set([...RECEIPTS, ...REMARKS, ...HANDLES, ...WAITS]);
/** `e44`, `1_23`, `node-7`: what numbers elements. */
const HANDLE_VALUE = /^(?:[a-z]{1,6}[-_]?)?\d+(?:[-_]\d+)*$/i;
const LABEL = /\p{L}{2}/u;

function withoutAsides(args: Json): Json {
  if (!isJsonObject(args)) return args;
  const names = Object.keys(args);
  const [first = ''] = names;
  if (names.length === 1 && EXPLANATIONS.has(first)) return {};
  if (names.length < 2 || !names.some((name) => ASIDES.has(name))) return args;
  const meant = names.filter(
    (name) =>
      !REMARKS.has(name) &&
      (!RECEIPTS.has(name) || isJsonObject(args[name])) &&
      (!WAITS.has(name) || typeof args[name] !== 'number'),
  );
  const labels = meant.filter((name) => !isHandle(name, args[name]));
  // A handle alone is all that tells what is meant.
  const isLabelled = labels.some((name) => isText(args[name]));
  const kept = isLabelled ? labels : meant;
  if (kept.length === 0 || kept.length === names.length) return args;
  return Object.fromEntries(kept.map((name) => [name, args[name] ?? null]));
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && LABEL.test(value);
}

function isHandle(name: string, value: unknown): boolean {
  return HANDLES.has(name) && typeof value === 'string' && HANDLE_VALUE.test(value);
}

/**
 * What of an answer shows progress: the fields declared in `progressKey`, or undefined where nothing is declared or the
 * answer has none of them. A text that is a JSON object counts as one.
 *
 * Cost: one `JSON.parse` of the answer where a key is declared, else nothing.
 */
export function progressOf(result: Json, declaration: ToolDeclaration | undefined): Json | undefined {
  if (declaration?.progressKey === undefined) return undefined;
  return picked(typeof result === 'string' ? parsed(result) : result, declaration.progressKey);
}

function picked(value: Json, keys: readonly string[] | undefined): Json | undefined {
  if (keys === undefined || !isJsonObject(value)) return undefined;
  const found = keys.flatMap((key) => {
    const at = valueAt(value, key.split('.'));
    return at === undefined ? [] : [[key, at] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function valueAt(value: Json, path: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const name of path) {
    if (!isJsonObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at;
}

function parsed(text: string): Json {
  if (!text.trimStart().startsWith('{')) return null;
  // An answer that is no JSON has no fields; it is compared whole.
  return jsonOf(text) ?? null;
}
