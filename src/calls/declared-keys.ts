import { isJsonObject, jsonOf, memberAt, type Json } from '../base/json.ts';
import type { ToolDeclaration } from './tool-semantics.ts';

/**
 * The arguments that say what a call is about: those declared in `loopKey`, or, where none of them is there, all but what is
 * new each time and changes nothing: receipts (`request_id`), remarks (`explanation`), pauses (`wait_before_s`), the handles under
 * which a page lists its elements (`ref: 'e44'`) beside a label, and what is handed over empty.
 */
export function loopArgs(args: Json, declaration: ToolDeclaration | undefined): Json {
  return picked(args, declaration?.loopKey) ?? withoutAsides(args);
}

const RECEIPT =
  /^(?:(?:client_?)?req(?:uest)?_?id|idempotency_?(?:key|token)|client_?token|nonce|trace_?id|span_id|correlation_?id|timestamp|ts)$/i;
/** How long a tool is to wait before it looks, beside what it looks at. */
const WAIT = /^(?:wait|delay|sleep|pause|poll_interval|interval_s)(?:_\w+|Ms|Seconds)?$/;
const REMARK = /^(?:explanation|reason|rationale|justification|thought|reasoning)$/;
/** These say why a call is made, also where nothing else is handed over; a lone thought is what a tool is given. */
const EXPLANATION = /^(?:explanation|rationale|justification)$/;
const HANDLE = /^(?:ref|uid|(?:backend_)?(?:element|node)_?(?:id|ref)|handle)$/i;
/** `e44`, `1_23`, `node-7`: what numbers elements. */
const HANDLE_VALUE = /^(?:[a-z]{1,6}[-_]?)?\d+(?:[-_]\d+)*$/i;
const MAY_BE_ASIDE = new RegExp([RECEIPT, WAIT, REMARK, HANDLE].map(({ source }) => source).join('|'), 'i');
const LABEL = /\p{L}{2}/u;

function withoutAsides(args: Json): Json {
  if (!isJsonObject(args) || !mayHoldAsides(args)) return args;
  const given = Object.entries(args);
  const meant = given.filter(
    ([name, value]) =>
      value !== '' &&
      value !== null &&
      !(given.length > 1 ? REMARK : EXPLANATION).test(name) &&
      !(given.length > 1 && RECEIPT.test(name) && !isJsonObject(value)) &&
      !(given.length > 1 && WAIT.test(name) && typeof value === 'number'),
  );
  // A handle alone is all that tells what is meant.
  const labels = meant.filter(
    ([name, value]) => !(HANDLE.test(name) && typeof value === 'string' && HANDLE_VALUE.test(value)),
  );
  const isLabelled = labels.some(([, value]) => typeof value === 'string' && LABEL.test(value));
  const kept = isLabelled ? labels : meant;
  if (kept.length === given.length || (kept.length === 0 && given.length > 1)) return args;
  return Object.fromEntries(kept);
}

/** Most calls hold none. */
function mayHoldAsides(args: Readonly<Record<string, unknown>>): boolean {
  for (const name in args) if (MAY_BE_ASIDE.test(name) || args[name] === '' || args[name] === null) return true;
  return false;
}

/**
 * What of an answer shows progress: the fields declared in `progressKey`, or undefined where nothing is declared or the
 * answer has none of them. A text that is a JSON object counts as one; any other text has no fields and is compared whole.
 *
 * Cost: one `JSON.parse` of the answer where a key is declared, else nothing.
 */
export function progressOf(result: Json, declaration: ToolDeclaration | undefined): Json | undefined {
  if (declaration?.progressKey === undefined) return undefined;
  return picked(typeof result === 'string' ? (jsonOf(result) ?? null) : result, declaration.progressKey);
}

function picked(value: Json, keys: readonly string[] | undefined): Json | undefined {
  if (keys === undefined || !isJsonObject(value)) return undefined;
  const found = keys.flatMap((key) => {
    const at = memberAt(value, key.split('.'));
    return at === undefined ? [] : [[key, at] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
