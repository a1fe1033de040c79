import type { IncomingMessage } from 'node:http';

/** Tracks the memory used by all incoming request bodies. */
export interface BufferedBodies {
  bytes: number;
  readonly maxBytes: number;
}

/**
 * Reads the body of a request, or returns the reason why it is too large. The body is always read to its end, because
 * otherwise the client would not receive the response.
 */
export async function bodyOf(
  request: IncomingMessage,
  maxBytes: number,
  buffered: BufferedBodies,
): Promise<Buffer | { readonly tooMuch: string }> {
  const chunks: Buffer[] = [];
  let total = 0;
  let bufferedBytes = 0;
  let tooMuch: string | undefined;
  try {
    // A request stream without an encoding yields buffers.
    for await (const chunk of request as AsyncIterable<Buffer>) {
      total += chunk.length;
      if (total > maxBytes) tooMuch ??= `it exceeds ${maxBytes} bytes`;
      else if (buffered.bytes + chunk.length > buffered.maxBytes)
        tooMuch ??= `${buffered.maxBytes} bytes arrived in concurrent requests`;
      if (tooMuch === undefined) {
        chunks.push(chunk);
        bufferedBytes += chunk.length;
        buffered.bytes += chunk.length;
      } else {
        chunks.length = 0;
        buffered.bytes -= bufferedBytes;
        bufferedBytes = 0;
      }
    }
    return tooMuch === undefined ? Buffer.concat(chunks) : { tooMuch };
  } finally {
    buffered.bytes -= bufferedBytes;
  }
}
