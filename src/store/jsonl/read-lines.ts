import { Buffer } from 'node:buffer';

const LINE_BREAK = 0x0a;

/** One line of a file. Its bytes are valid until the next chunk is read. */
export interface FileLine {
  /** The bytes without the line break. */
  readonly bytes: Buffer;
  /** Byte offset of the end of its line break. */
  readonly endOffset: number;
  /** False for the bytes after the last line break. They are still being written, or a crash interrupted the write. */
  readonly isComplete: boolean;
}

/**
 * Splits chunks of bytes into lines. Yields a list of lines for each chunk that completes at least one line.
 *
 * @param chunks  each must stay unchanged until the next is requested Cost: memory is a chunk and twice the longest line.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  fromOffset: number,
): AsyncGenerator<readonly FileLine[], void, void> {
  let offset = fromOffset;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    const firstBreak = chunk.indexOf(LINE_BREAK);
    if (firstBreak < 0) {
      pending.push(Buffer.from(chunk));
      pendingBytes += chunk.length;
      continue;
    }
    const lines: FileLine[] = [];
    const firstLineEnd = offset + pendingBytes + firstBreak + 1;
    const firstLine = Buffer.concat([...pending, chunk.subarray(0, firstBreak)]);
    lines.push({ bytes: firstLine, endOffset: firstLineEnd, isComplete: true });
    offset = firstLineEnd;
    let start = firstBreak + 1;
    for (let end = chunk.indexOf(LINE_BREAK, start); end >= 0; end = chunk.indexOf(LINE_BREAK, start)) {
      const endOffset = offset + end + 1 - start;
      lines.push({ bytes: chunk.subarray(start, end), endOffset, isComplete: true });
      offset = endOffset;
      start = end + 1;
    }
    yield lines;
    pending = start < chunk.length ? [Buffer.from(chunk.subarray(start))] : [];
    pendingBytes = chunk.length - start;
  }
  if (pendingBytes > 0) {
    const bytes = Buffer.concat(pending);
    yield [{ bytes, endOffset: offset + bytes.length, isComplete: false }];
  }
}
