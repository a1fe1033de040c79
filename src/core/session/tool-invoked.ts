import type { CallOutcome } from '../records/trajectory-record.ts';
import { type Mutable, isJsonObject } from '../base/json.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { hashText } from '../base/hash.ts';
import { defineEvent, type EventInput, type EventType, type SessionEvent } from './define-event.ts';
import { defineSlice, type Slice, type SliceView, append, type SliceOperation, amend } from './define-slice.ts';

const PARAMS_PREVIEW_LENGTH = 512;
const RESULT_PREVIEW_LENGTH = 256;
const FIELD_LENGTHS: readonly number[] = [400, 200, 100, 50, 20];
const SHORTEST_PREVIEW = 200;
const MAX_DEPTH = 4;
const MAX_ITEMS = 8;
const MAX_MEMBERS = 24;

/** A finished tool call. It contains hashes and short previews, never the whole result. */
export interface ToolInvoked {
  readonly name: string;
  /** Hash of the parameters, 16 hexadecimal digits. It does not depend on the order of keys. Not for security. */
  readonly paramsHash: string;
  /** The parameters as canonical JSON, at most 512 characters. If they are longer, each text in them is cut. */
  readonly paramsPreview: string;
  readonly resultHash: string;
  /** The result as text or canonical JSON. A result over 256 characters is reduced to its beginning and end. */
  readonly resultPreview: string;
  /** UTF-16 units of the whole result. Absent if the preview is complete. */
  readonly resultChars?: number;
  /** False for any outcome other than `ok`. */
  readonly success: boolean;
  /** `refused` or `cancelled`; absent for any other call. */
  readonly outcome?: CallOutcome;
  /** 0-based index among the calls of the session. */
  readonly callIndex: number;
  /** The active prompt; `''` if no prompt is active. */
  readonly promptName: string;
  /** Unix milliseconds of the end of the call. */
  readonly atMs: number;
  readonly durationMs?: number;
}

/** The data of a `ToolInvokedEvent`. `callIndex` and `atMs` are set when the event is folded. */
export interface ToolInvocation extends Omit<ToolInvoked, 'callIndex' | 'atMs'> {
  /** Default: the number of earlier calls. */
  readonly callIndex?: number;
}

/** The event of a finished tool call. Create it with `toolInvoked`. */
export const ToolInvokedEvent: EventType<ToolInvocation> = defineEvent<ToolInvocation>('tool-invoked');

/** The tool calls of the session. The last 1,000 are retained. Registered in every session. */
export const ToolInvoked: Slice<ToolInvoked> = defineSlice<ToolInvoked>('tool-invoked').on(
  ToolInvokedEvent,
  (view: SliceView<ToolInvoked>, event: SessionEvent<ToolInvocation>): SliceOperation<ToolInvoked> =>
    append({ ...event.data, callIndex: event.data.callIndex ?? view.total(), atMs: event.atMs }),
);

export interface ToolCallOutcome {
  readonly name: string;
  /** Any JSON value. */
  readonly params: unknown;
  /** Any JSON value or text, of any length. */
  readonly result: unknown;
  /** Default: the member `success` of the result if it is true or false, else true. */
  readonly success?: boolean;
  /** Set for a refused or cancelled call. Default: from `success`. */
  readonly outcome?: CallOutcome | undefined;
  /** Default `''`. */
  readonly promptName?: string;
  readonly durationMs?: number | undefined;
  /** 0-based; default: the number of earlier calls in the session. */
  readonly callIndex?: number;
  /** Unix milliseconds; default: the session's time. */
  readonly atMs?: number;
}

/** The event of a finished tool call: `session.dispatch(toolInvoked({ name, params, result }))`. Cost: one walk over both values. */
export function toolInvoked(outcome: ToolCallOutcome): EventInput<ToolInvocation> {
  const params = canonicalJson(outcome.params);
  const result = typeof outcome.result === 'string' ? outcome.result : canonicalJson(outcome.result);
  const { durationMs, callIndex, atMs } = outcome;
  const data: Mutable<ToolInvocation> = {
    name: outcome.name,
    paramsHash: hashText(params),
    paramsPreview: params.length <= PARAMS_PREVIEW_LENGTH ? params : cutParams(outcome.params),
    resultHash: hashText(result),
    resultPreview: headAndTail(result, RESULT_PREVIEW_LENGTH),
    success: outcome.outcome === undefined ? (outcome.success ?? successOf(outcome.result)) : outcome.outcome === 'ok',
    promptName: outcome.promptName ?? '',
  };
  if (result.length > RESULT_PREVIEW_LENGTH) data.resultChars = result.length;
  if (outcome.outcome === 'refused' || outcome.outcome === 'cancelled') data.outcome = outcome.outcome;
  if (durationMs !== undefined) data.durationMs = durationMs;
  if (callIndex !== undefined) data.callIndex = callIndex;
  return ToolInvokedEvent(data, atMs === undefined ? {} : { atMs });
}

/** A result without a flag is a success. */
function successOf(result: unknown): boolean {
  const flag = isJsonObject(result) ? result['success'] : undefined;
  return flag !== false;
}

function cutParams(params: unknown): string {
  for (const limit of FIELD_LENGTHS) {
    const text = canonicalJson(cutValue(params, limit, 0));
    if (text.length <= PARAMS_PREVIEW_LENGTH) return text;
  }
  return canonicalJson(previewText(canonicalJson(cutValue(params, 0, 0)), SHORTEST_PREVIEW));
}

function cutValue(value: unknown, limit: number, depth: number): unknown {
  if (typeof value === 'string')
    return value.length <= Math.max(limit, 8) ? value : previewText(value, Math.max(limit, 8));
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '…';
  const cutItem = (item: unknown): unknown => cutValue(item, limit, depth + 1);
  if (Array.isArray(value)) {
    return value.length <= MAX_ITEMS ? value.map(cutItem) : [...value.slice(0, MAX_ITEMS).map(cutItem), '…'];
  }
  const members = Object.entries(value);
  return Object.fromEntries(members.slice(0, MAX_MEMBERS).map(([key, item]) => [previewText(key, 40), cutItem(item)]));
}

/** Returns the beginning (three quarters) and the end (one quarter) of a text. */
function headAndTail(text: string, length: number): string {
  if (text.length <= length) return text;
  const tail = text.slice(-Math.floor(length / 4)).replace(/^[\uDC00-\uDFFF]/, '');
  return `${previewText(text, length - tail.length)}${tail}`;
}

/** Cuts a text to at most `length` UTF-16 units, never inside a surrogate pair. */
function previewText(text: string, length: number): string {
  if (text.length <= length) return text;
  const shortened = text.slice(0, length - 1);
  return `${shortened.replace(/[\uD800-\uDBFF]$/, '')}…`;
}

export interface ToolCallCount {
  readonly promptName: string;
  /** The exact number, even if `ToolInvoked` no longer retains the calls. */
  readonly calls: number;
}

/** The slice has one item per prompt, in order of first use. It is registered in every session. */
export const ToolCallCount: Slice<ToolCallCount> = defineSlice<ToolCallCount>('tool-call-count').on(
  ToolInvokedEvent,
  (view, event) => {
    const { promptName } = event.data;
    const items = itemsOf(view);
    const position = items.findLastIndex((item) => item.promptName === promptName);
    const previous = position < 0 ? undefined : items[position];
    return previous === undefined
      ? append({ promptName, calls: 1 })
      : amend(position, { promptName, calls: previous.calls + 1 });
  },
);

/** Returns the number of calls of a prompt. Cost: O(prompts used). */
export function toolCallCount(view: SliceView<ToolCallCount>, promptName: string): number {
  return itemsOf(view).findLast((item) => item.promptName === promptName)?.calls ?? 0;
}

/** Avoids `all`, which freezes a new list after each change. Nearly every run has only one prompt. */
function itemsOf(view: SliceView<ToolCallCount>): readonly ToolCallCount[] {
  return view.total() === 1 ? view.last(1) : view.all();
}
