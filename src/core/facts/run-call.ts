import { present, textsIn, type Json } from '../base/json.ts';
import type { ToolKind } from '../detect/calls/tool-kind.ts';
import { lightMask } from '../detect/calls/mask.ts';
import { makeStep, type StepFailure } from '../detect/patterns/step.ts';
import type { RecentCall } from '../detect/patterns/pattern-detector.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { RingBuffer } from '../base/ring-buffer.ts';

const PREVIEW_CHARS = 100;
/** Number of recent calls with previews. The evidence of a pattern is within this range. */
const RECENT = 64;
const MAX_KEPT = 512;

/** A short form of a call. Contains untrusted text: pass it through `printable` before showing it. */
export interface CallPreview {
  readonly call: string;
  readonly error?: string;
  readonly outcome?: RunCall['outcome'];
}

/** Also of earlier calls marked with `keep`. Cost: O(100) characters per call, whatever the size of its arguments. */
export class CallPreviews {
  readonly #recent = new RingBuffer<{ readonly index: number; readonly preview: CallPreview }>(RECENT);
  readonly #kept = new Map<number, CallPreview>();

  add(index: number, tool: string, args: Json): void {
    this.#recent.push({ index, preview: { call: callText(tool, args) } });
  }

  end(index: number, { error, outcome }: Pick<CallPreview, 'error' | 'outcome'>): void {
    const found = this.#find(index);
    if (found === undefined || (error ?? outcome) === undefined) return;
    const preview = { ...found.preview, ...present({ error: error?.slice(0, 2 * PREVIEW_CHARS), outcome }) };
    this.#recent.replaceAt(found.back, { index, preview });
  }

  keep(indices: readonly number[]): void {
    for (const index of indices) {
      if (this.#kept.size >= MAX_KEPT || this.#kept.has(index)) continue;
      const found = this.#find(index);
      if (found !== undefined) this.#kept.set(index, found.preview);
    }
  }

  kept(index: number): CallPreview | undefined {
    return this.#kept.get(index);
  }

  #find(index: number): { readonly back: number; readonly preview: CallPreview } | undefined {
    for (let back = -1; back >= -this.#recent.size; back -= 1) {
      const item = this.#recent.at(back);
      if (item === undefined || item.index < index) return undefined;
      if (item.index === index) return { back, preview: item.preview };
    }
    return undefined;
  }
}

/** Formats a call as `tool {…}` in at most 100 characters. */
export function callText(tool: string, args: Json): string {
  const name = tool.slice(0, PREVIEW_CHARS / 2);
  const isBare = args === null || (typeof args === 'object' && Object.keys(args).length === 0);
  const shown = isBare ? '' : ` ${shortJson(args, PREVIEW_CHARS)}`;
  const text = name + shown;
  return text.length <= PREVIEW_CHARS ? text : `${text.slice(0, PREVIEW_CHARS - 1)}…`;
}

function shortJson(value: Json, chars: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, chars + 1));
  if (value === null || typeof value !== 'object') return String(value);
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  // The keys of an array are its indices.
  for (const [key, member] of Object.entries<Json | undefined>(value)) {
    if (text.length > chars) return text;
    if (member === undefined) continue;
    if (text.length > 1) text += ', ';
    text += isList ? '' : `${key.slice(0, chars)}: `;
    text += shortJson(member, chars - text.length);
  }
  return text + (isList ? ']' : '}');
}

export interface RunCall {
  /** 1-based number in order of start. Recorded patterns refer to calls by a 0-based index. */
  readonly number: number;
  readonly id: string;
  readonly tool: string;
  /** Absent while the call is open, and without an analysis; use `readCall` then. */
  readonly kind?: ToolKind;
  /** Null if the record of the start was lost. */
  readonly args: Json;
  /** The call that began the program that this one asks for. Absent for other calls. */
  readonly begun?: RunCall;
  /** `seq` of the record that started the call. If that record was lost, `seq` of its result. */
  readonly seq: number;
  /** `seq` of the result; absent while the call is open. */
  readonly endSeq?: number;
  /** True if the record of its start was lost. */
  readonly startLost: boolean;
  /** True if its result is an error, and the call was neither refused nor cancelled. */
  readonly failed: boolean;
  /** `refused` or `cancelled`; absent for any other call. */
  readonly outcome?: RecentCall['outcome'];
  /** True if the source states that it contains no result. */
  readonly resultMissing: boolean;
  /** The line of the result that states the failure, at most 200 characters. Without an analysis: `errorLineOf`. */
  readonly errorLine?: string;
}

/**
 * Returns the line that states why a call failed, at most 200 characters. Returns undefined for a successful call, or if
 * there is no such line.
 *
 * @param record  the record of the result
 *
 * Cost: without an analysis, reads the result as the analysis does.
 */
export function errorLineOf(call: RunCall, { payload }: TrajectoryRecord): string | undefined {
  const { args, errorLine, failed, kind, outcome, tool } = call;
  if (payload.kind !== 'tool_ended') return errorLine;
  const line = kind !== undefined || !failed ? errorLine : failureIn({ args, tool }, payload.result, true)?.line;
  return line !== undefined && outcome === 'refused' ? lineAsWritten(line, payload.result) : line;
}

/** A person who is to allow a path needs it, so the line of a refusal is not masked. */
function lineAsWritten(masked: string, result: Json): string {
  const lines = textsIn(result).flatMap((text) => text.replaceAll(/<\/?tool_use_error>/g, '').split('\n'));
  const written = lines.map((line) => line.trim().slice(0, LINE_CHARS));
  return written.find((line) => lightMask(line) === masked) ?? masked;
}

const LINE_CHARS = 200;

/** How the analysis reads the failure of a call, which the source may flag (`isError`); undefined if it succeeded. */
export function failureIn(
  { args, tool }: Pick<RunCall, 'args' | 'tool'>,
  result: Json,
  isError: boolean,
): StepFailure | undefined {
  const call = { index: 0, turn: 0, atMs: 0, tool, args, result, isError, resultMissing: false };
  return makeStep(call, {}).failure;
}
