import type { Json } from '../../base/json.ts';
import { RingBuffer } from '../../base/ring-buffer.ts';

const PREVIEW_CHARS = 100;
/** A pattern's evidence lies within this many calls. */
const RECENT = 64;
/** About four per pattern. */
const MAX_KEPT = 512;

/** A call in short. Untrusted text: pass it through `printable` before showing it. */
export interface CallPreview {
  /** Tool and arguments, at most 100 characters. */
  readonly call: string;
  /** The error line of a failed call. */
  readonly error?: string;
}

/**
 * Previews of the recent calls of a run, and of earlier calls marked with `keep`.
 *
 * Cost: O(100) characters per call, whatever the size of its arguments.
 */
export class CallPreviews {
  readonly #recent = new RingBuffer<{ readonly index: number; readonly preview: CallPreview }>(RECENT);
  readonly #kept = new Map<number, CallPreview>();

  add(index: number, tool: string, args: Json): void {
    this.#recent.push({ index, preview: { call: callText(tool, args) } });
  }

  /** Adds the error line of a call that is still recent. */
  fail(index: number, error: string): void {
    const found = this.#find(index);
    if (found === undefined) return;
    const preview = { ...found.preview, error: error.slice(0, 2 * PREVIEW_CHARS) };
    this.#recent.replaceAt(found.back, { index, preview });
  }

  /** Keeps the previews of those of these calls that are still recent. */
  keep(indices: readonly number[]): void {
    for (const index of indices) {
      if (this.#kept.size >= MAX_KEPT || this.#kept.has(index)) continue;
      const found = this.#find(index);
      if (found !== undefined) this.#kept.set(index, found.preview);
    }
  }

  /** The preview of a kept call. */
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

/** `tool {…}` in at most 100 characters. */
export function callText(tool: string, args: Json): string {
  const name = tool.slice(0, PREVIEW_CHARS / 2);
  const shown = isBare(args) ? '' : ` ${shortJson(args, PREVIEW_CHARS)}`;
  const text = name + shown;
  return text.length <= PREVIEW_CHARS ? text : `${text.slice(0, PREVIEW_CHARS - 1)}…`;
}

function isBare(args: Json): boolean {
  return args === null || (typeof args === 'object' && Object.keys(args).length === 0);
}

/** JSON of a value, cut soon after `chars` characters without reading the rest. */
function shortJson(value: Json, chars: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, chars + 1));
  if (value === null || typeof value !== 'object') return String(value);
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  // A list has its indices as keys.
  for (const [key, member] of Object.entries<Json | undefined>(value)) {
    if (text.length > chars) return text;
    if (member === undefined) continue;
    if (text.length > 1) text += ', ';
    text += isList ? '' : `${key.slice(0, chars)}: `;
    text += shortJson(member, chars - text.length);
  }
  return text + (isList ? ']' : '}');
}
