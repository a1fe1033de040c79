import { once } from 'node:events';
import { Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { messageOf } from '../../../core/base/error.ts';
import { isJsonObject, jsonOf } from '../../../core/base/json.ts';
import { LineTap } from '../../../hosts/mcp/line-tap.ts';
import type { OpenWatch } from '../../../hosts/mcp/mcp-watch.ts';
import type { ClientStreams } from '../../../hosts/mcp/proxy-stdio.ts';
import { StreamableHTTPClientTransport } from './mcp-sdk.ts';
import { canonicalJson } from '../../../core/base/canonical-json.ts';

const NEWLINE = 10;
const DATA = /^data: ?/;
const MAX_MESSAGES = 1_000;

/** A decoded message has lost its formatting and the digits of large numbers. Beyond `maxBytes`, the oldest bytes go. */
export class RawMessages {
  readonly #pendingMessages: { readonly key: string; readonly bytes: Buffer }[] = [];
  readonly #maxBytes: number;
  readonly #whenRead: () => Promise<unknown> | undefined;
  #size = 0;

  constructor(maxBytes: number, whenRead: () => Promise<unknown> | undefined) {
    this.#maxBytes = maxBytes;
    this.#whenRead = whenRead;
  }

  /** Keeps each message that is one line. Throws an error in the stream for a line over the limit. */
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
        for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, lineStart)) {
          parts.push(chunk.subarray(lineStart, end));
          endLine();
          lineStart = end + 1;
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

type Message = Parameters<StreamableHTTPClientTransport['send']>[0];

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const PARSE_ERROR = -32_700;
const SERVER_ERROR = -32_000;
const LINE_FEED = Buffer.from('\n');

/** Messages pass byte for byte, except a server's of several lines. The SDK resumes sessions. A rejected request is a protocol error. */
export async function proxyUrl(
  { url, headers }: { readonly url: URL; readonly headers: Headers },
  { input, output }: ClientStreams,
  open: () => Promise<OpenWatch | undefined>,
): Promise<number> {
  const openedWatch = await open();
  const raw = new RawMessages(MAX_BYTES, () => (output.writableNeedDrain ? once(output, 'drain') : undefined));
  /** Lines of the client that are being sent, by the body that the SDK writes for them. */
  const pendingLines = new Map<unknown, Uint8Array<ArrayBuffer>>();
  const rawFetch = async (address: string | URL, init?: RequestInit): Promise<Response> => {
    const body = pendingLines.get(init?.body);
    const response = await fetchWithin(new URL(address), body === undefined ? { ...init } : { ...init, body });
    if (response.body === null) return response;
    const { status, statusText, headers: responseHeaders } = response;
    return new Response(response.body.pipeThrough(raw.tap()), { status, statusText, headers: responseHeaders });
  };
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch: rawFetch });
  const writeMessage = (message: object): void => void output.write(`${JSON.stringify(message)}\n`);
  const writeError = (id: unknown, code: number, message: string): void =>
    writeMessage({ jsonrpc: '2.0', id, error: { code, message } });
  const onmessage: NonNullable<StreamableHTTPClientTransport['onmessage']> = (message) => {
    const line = Buffer.concat([raw.take(message) ?? Buffer.from(JSON.stringify(message)), LINE_FEED]);
    if ('result' in message && typeof message.result['protocolVersion'] === 'string') {
      transport.setProtocolVersion(message.result['protocolVersion']);
    }
    output.write(openedWatch?.watch.server.line(line) ?? line);
  };
  Object.assign(transport, { onmessage });
  /** Resolves when the next message may be sent. For a request this is immediately, because the response may take any time. */
  const sendLine = async (line: Buffer): Promise<void> => {
    const message = jsonOf(line.toString());
    if (message === undefined) return writeError(null, PARSE_ERROR, 'this line is not JSON');
    const requests = (Array.isArray(message) ? message : [message])
      .filter(isJsonObject)
      .filter(({ id, method }) => id !== undefined && method !== undefined);
    const body = JSON.stringify(message);
    pendingLines.set(body, new Uint8Array(line.subarray(0, line.length - lineEnd(line))));
    // The server rejects messages that it does not understand.
    const sendResult = transport
      .send(message as unknown as Message)
      .catch((error: unknown) => {
        for (const { id } of requests) {
          const answer = { jsonrpc: '2.0', id, error: { code: SERVER_ERROR, message: messageOf(error) } };
          openedWatch?.watch.server.line(Buffer.from(JSON.stringify(answer)));
          writeMessage(answer);
        }
      })
      .finally(() => pendingLines.delete(body));
    if (requests.length === 0) await sendResult;
  };
  let previousSend = Promise.resolve();
  await transport.start();
  const lines = new LineTap({
    maxBytes: MAX_BYTES,
    line: (line) => {
      if (line.toString().trim() === '') return line;
      openedWatch?.watch.client.line(line);
      previousSend = previousSend.then(async () => sendLine(line));
      return line;
    },
    longLine: () => writeError(null, PARSE_ERROR, `a message of more than ${MAX_BYTES} bytes is not passed on`),
  });
  const discardingStream = new Writable({ write: (_chunk, _encoding, done) => done() });
  await Promise.race([pipeline(input, lines, discardingStream), finished(output, { readable: false })]).catch(
    () => undefined,
  );
  await transport.terminateSession().catch(() => undefined);
  await transport.close();
  await openedWatch?.close('ended');
  return 0;
}

/** Follows a redirect only within the same origin: the headers of the user are for this server alone. */
async function fetchWithin(url: URL, init: RequestInit): Promise<Response> {
  let address = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await fetch(address, { ...init, redirect: 'manual' });
    const target = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || target === null) return response;
    await response.body?.cancel();
    address = new URL(target, address);
    if (address.origin !== url.origin)
      throw new Error(`the server redirects to ${address.origin}; pass that address to --url`);
    if (response.status !== 307 && response.status !== 308 && init.method !== 'GET') break;
  }
  throw new Error('the server redirects without end, or to another method');
}

function lineEnd(line: Buffer): number {
  return /\r?\n?$/.exec(line.subarray(-2).toString('latin1'))?.[0].length ?? 0;
}
