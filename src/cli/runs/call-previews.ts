import type { Json } from '../../base/json.ts';
import { RingBuffer } from '../../base/ring-buffer.ts';

const PREVIEW_CHARS = 100;
/** Calls whose preview is at hand when a pattern shows itself. */
const RECENT = 64;
/** Previews kept for good; some four a pattern. */
const MAX_KEPT = 512;

/** What a call was, in short. Raw text from the trajectory: make it `printable` before showing it. */
export interface CallPreview {
  /** Tool and arguments, at most 100 characters. */
  readonly call: string;
  /** The line that says what failed, where it did. */
  readonly error?: string;
}

/**
 * Previews of the last calls of a run, and for good of those that were kept.
 *
 * Cost: O(100) characters a call, however large its arguments.
 */
export class CallPreviews {
  readonly #recent = new RingBuffer<{ readonly index: number; readonly preview: CallPreview }>(RECENT);
  readonly #kept = new Map<number, CallPreview>();

  add(index: number, tool: string, args: Json): void {
    this.#recent.push({ index, preview: { call: callText(tool, args) } });
  }

  /** Adds to a recent call what failed; nothing when it is no longer held. */
  fail(index: number, error: string): void {
    for (let back = -1; back >= -this.#recent.size; back -= 1) {
      const item = this.#recent.at(back);
      if (item === undefined || item.index < index) return;
      if (item.index === index) {
        this.#recent.replaceAt(back, { index, preview: { ...item.preview, error: error.slice(0, 2 * PREVIEW_CHARS) } });
        return;
      }
    }
  }

  /** Keeps the previews of these calls, as far as they are held. */
  keep(indices: readonly number[]): void {
    for (const index of indices) {
      const preview = this.#kept.size < MAX_KEPT && !this.#kept.has(index) ? this.#find(index) : undefined;
      if (preview !== undefined) this.#kept.set(index, preview);
    }
  }

  /** The preview of a call that was kept. */
  kept(index: number): CallPreview | undefined {
    return this.#kept.get(index);
  }

  #find(index: number): CallPreview | undefined {
    for (let back = -1; back >= -this.#recent.size; back -= 1) {
      const item = this.#recent.at(back);
      if (item?.index === index) return item.preview;
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

/** JSON of a value, cut off soon after `chars` characters without looking at the rest. */
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
