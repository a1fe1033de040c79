import { canonicalJson } from '../../../core/base/canonical-json.ts';
import { isJsonObject, jsonOf } from '../../../core/base/json.ts';

const NEWLINE = 10;
const DATA = /^data: ?/;
/** Maximum number of messages that the SDK has not yet decoded. */
const MAX_MESSAGES = 1_000;

/**
 * Keeps the bytes of a server's messages while the SDK decodes them, because a decoded message has lost its formatting and the
 * digits of large numbers.
 *
 * Memory: `maxBytes`, beyond which the oldest bytes are dropped, and one line per body. Cost: one parse per message.
 */
export class RawMessages {
  readonly #pendingMessages: { readonly key: string; readonly bytes: Buffer }[] = [];
  readonly #maxBytes: number;
  readonly #whenRead: () => Promise<unknown> | undefined;
  #size = 0;

  /** @param whenRead  waits while the other side does not read; undefined if it reads */
  constructor(maxBytes: number, whenRead: () => Promise<unknown> | undefined) {
    this.#maxBytes = maxBytes;
    this.#whenRead = whenRead;
  }

  /**
   * Passes a body or an event stream on and keeps each message in it that is one line.
   *
   * @throws an error in the stream for a line over the limit
   */
  tap(): TransformStream<Uint8Array, Uint8Array> {
    let parts: Uint8Array[] = [];
    let size = 0;
    const endLine = (): void => {
      this.#keepLine(Buffer.concat(parts));
      parts = [];
      size = 0;
    };
    return new TransformStream({
      transform: async (chunk, controller) => {
        await this.#whenRead();
        let lineStart = 0;
        for (let lineEnd = chunk.indexOf(NEWLINE); lineEnd !== -1; lineEnd = chunk.indexOf(NEWLINE, lineStart)) {
          parts.push(chunk.subarray(lineStart, lineEnd));
          endLine();
          lineStart = lineEnd + 1;
        }
        parts.push(chunk.subarray(lineStart));
        size += chunk.length - lineStart;
        if (size > this.#maxBytes) controller.error(new Error(`a message of more than ${this.#maxBytes} bytes`));
        else controller.enqueue(chunk);
      },
      flush: endLine,
    });
  }

  /** Returns the bytes of a message once, in the order of their arrival. Undefined if the message was not one line. */
  take(message: object): Buffer | undefined {
    const key = canonicalJson(message);
    const index = this.#pendingMessages.findIndex((one) => one.key === key);
    const [pendingMessage] = index === -1 ? [] : this.#pendingMessages.splice(index, 1);
    this.#size -= pendingMessage?.bytes.length ?? 0;
    return pendingMessage?.bytes;
  }

  #keepLine(line: Buffer): void {
    const start = DATA.exec(line.subarray(0, 6).toString())?.[0].length ?? 0;
    const bytes = line.subarray(start, line.at(-1) === 13 ? -1 : undefined);
    const message = jsonOf(bytes.toString());
    if (!isJsonObject(message) || message['jsonrpc'] !== '2.0') return;
    this.#pendingMessages.push({ key: canonicalJson(message), bytes });
    this.#size += bytes.length;
    while (this.#size > this.#maxBytes || this.#pendingMessages.length > MAX_MESSAGES)
      this.#size -= this.#pendingMessages.shift()?.bytes.length ?? this.#size;
  }
}
