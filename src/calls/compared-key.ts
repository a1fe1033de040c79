import { hashText } from '../base/hash.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { FLAGGED_SEED, type AnswerReading } from './answer-reading.ts';
import type { RawCall } from './raw-call.ts';
import type { ToolKind } from './tool-kind.ts';
import type { CallSemantics } from './tool-semantics.ts';

/** What is known of a call beside its answer. */
interface Outcome {
  readonly semantics: CallSemantics;
  readonly kind: ToolKind;
  readonly failed: boolean;
  readonly acknowledged: boolean;
}

/**
 * The key under which the answer of a call is compared with others: equal where it says the same, as far as such a call can tell.
 *
 * Cost: a hash of the answer; one replacement more for receipts, writes and screens.
 */
export function comparedKey(call: RawCall, answer: AnswerReading, outcome: Outcome): string {
  const { semantics, kind, failed, acknowledged } = outcome;
  const seed = call.isError ? FLAGGED_SEED : 0;
  // The same was set going, or sent, once more: under whatever name it goes this time.
  if (!failed && kind !== 'ui' && answer.isReceipt && saysWhat(call.args)) {
    return hashText(answer.masked.replace(isOrdered(call.args) ? ANY_ID : RECEIPT_ID, '#'), seed);
  }
  // What is stored under a receipt's numbers (a revision, a count of bytes) is the same when it is stored again.
  const stored = kind === 'write' && !semantics.shell && semantics.content !== undefined;
  if (stored && !failed && answer.acknowledges) {
    return hashText(answer.masked.replace(RECEIPT_NUMBER, '#'), seed);
  }
  if (kind === 'write' && !semantics.shell) return answer.writtenKey(call.isError);
  if (kind === 'ui' && !acknowledged) return hashText(withoutEcho(answer, call.args), seed);
  return answer.keyOf(call.isError);
}

/** A number of its own; one that belongs to a name (`room-1`) tells what was met. */
const RECEIPT_NUMBER = /(?<![\w-])\d+(?:\.\d+)?(?![\w-])/g;

/** What was just begun or sent is named by many digits, or by digits and letters mixed; a place in a row (`S-014`) is neither. */
const RECEIPT_ID = /(?<![\w-])(?=[\w-]*(?:\d{4}|\d[a-z]))[\w-]{4,}(?![\w-])/gi;
const ANY_ID = /(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{3,}(?![\w-])|(?<![\w-])\d{4,}(?![\w-])/gi;
const MIN_ORDER_CHARS = 8;

/** Whether the order stands there in so many words, such as a command: then even what is numbered in a row is a receipt. */
function isOrdered(args: Json): boolean {
  return (
    isJsonObject(args) && Object.values(args).some((value) => typeof value === 'string' && ORDER.test(value.trim()))
  );
}

const ORDER = /\S\s+\S+\s+\S/;

/** Whether the arguments name what is to be begun or sent; where they do not, it may be another thing each time. */
function saysWhat(args: Json): boolean {
  if (!isJsonObject(args)) return typeof args === 'string' && args.length >= MIN_ORDER_CHARS;
  return Object.values(args).some((value) => typeof value === 'string' && value.length >= MIN_ORDER_CHARS);
}

const ECHO_CHARS = 200;

/** What a screen shows, without the order that its first line repeats: `Clicked element e3`. */
function withoutEcho({ masked: text, actsOnScreen }: AnswerReading, args: Json): string {
  const end = text.indexOf('\n');
  const shown = end > 0 && actsOnScreen ? text.slice(end) : text;
  if (!isJsonObject(args)) return shown;
  let head = shown.slice(0, ECHO_CHARS);
  for (const value of Object.values(args)) {
    if (typeof value === 'string' && value.length >= 2 && value.length <= 80) head = head.replaceAll(value, '@');
  }
  return head + shown.slice(ECHO_CHARS);
}
