import { isUtf8 } from 'node:buffer';

import type { CoxswainError } from '../../base/error.ts';

/** Options of `wholeText`. */
export interface WholeTextOptions {
  readonly limitBytes: number;
  /** Creates the error for a text that exceeds the limit. */
  readonly tooLarge: () => CoxswainError;
}

/** A text held in memory. */
export interface WholeText {
  readonly text: string;
  /** True if some bytes were not UTF-8 and were replaced with U+FFFD. */
  readonly hasInvalidUtf8: boolean;
}

/** Collects UTF-8 bytes into one string without a byte order mark. Errors of `chunks` are passed on unchanged. */
export async function wholeText(chunks: AsyncIterable<Buffer>, options: WholeTextOptions): Promise<WholeText> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > options.limitBytes) throw options.tooLarge();
    parts.push(chunk);
  }
  const whole = Buffer.concat(parts);
  const text = whole.toString('utf8');
  return { text: text.startsWith('\uFEFF') ? text.slice(1) : text, hasInvalidUtf8: !isUtf8(whole) };
}
