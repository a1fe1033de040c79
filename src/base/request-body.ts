import type { IncomingMessage } from 'node:http';

/** What all bodies that are coming in take together. */
export interface BufferedBodies {
  bytes: number;
  readonly maxBytes: number;
}

/**
 * The body of a request; why for one that is too long. That one is read to its end all the same, so that the other side hears
 * the answer.
 */
export async function bodyOf(
  request: IncomingMessage,
  maxBytes: number,
  buffered: BufferedBodies,
): Promise<Buffer | { readonly tooMuch: string }> {
  const chunks: Buffer[] = [];
  let total = 0;
  let held = 0;
  let tooMuch: string | undefined;
  try {
    // Without an encoding set, a stream of a request gives buffers.
    for await (const chunk of request as AsyncIterable<Buffer>) {
      total += chunk.length;
      if (total > maxBytes) tooMuch ??= `it is over ${maxBytes} bytes`;
      else if (buffered.bytes + chunk.length > buffered.maxBytes)
        tooMuch ??= `${buffered.maxBytes} bytes came in together`;
      if (tooMuch === undefined) {
        chunks.push(chunk);
        held += chunk.length;
        buffered.bytes += chunk.length;
      } else {
        chunks.length = 0;
        buffered.bytes -= held;
        held = 0;
      }
    }
    return tooMuch === undefined ? Buffer.concat(chunks) : { tooMuch };
  } finally {
    buffered.bytes -= held;
  }
}
