import { isUtf8 } from 'node:buffer';

import type { CoxswainError } from '../../core/base/error.ts';

/**
 * Collects UTF-8 bytes into one string without a byte order mark. Errors of `chunks` are passed on unchanged. Bytes that are not
 * UTF-8 are replaced with U+FFFD, and `hasInvalidUtf8` is true.
 */
export async function wholeText(
  chunks: AsyncIterable<Buffer>,
  options: { readonly limitBytes: number; readonly tooLarge: () => CoxswainError },
): Promise<{ readonly text: string; readonly hasInvalidUtf8: boolean }> {
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
