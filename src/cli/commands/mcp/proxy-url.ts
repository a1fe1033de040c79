import { Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';

import { messageOf } from '../../../base/error.ts';
import { isJsonObject, jsonOf } from '../../../base/json.ts';
import { LineTap } from '../../../hosts/mcp/line-tap.ts';
import type { OpenWatch } from '../../../hosts/mcp/open-watch.ts';
import type { ClientStreams } from '../../../hosts/mcp/proxy-stdio.ts';
import { StreamableHTTPClientTransport } from './mcp-sdk.ts';

/** A server with the streamable HTTP transport. */
export interface HttpServer {
  readonly url: URL;
  readonly headers: Headers;
}

type Message = Parameters<StreamableHTTPClientTransport['send']>[0];

/** Maximum size of a message in bytes, in both directions. */
const MAX_BYTES = 64 * 1024 * 1024;
const PARSE_ERROR = -32_700;
const SERVER_ERROR = -32_000;
const NEWLINE = 10;

/**
 * Forwards messages between a client on standard input and output and a streamable HTTP server, until the client closes its side.
 * Messages are not changed. The official SDK handles sessions, streams and their resumption. If the server rejects a request, the
 * client receives a protocol error.
 *
 * @returns 0
 */
export async function proxyUrl(
  { url, headers }: HttpServer,
  { input, output }: ClientStreams,
  open: () => Promise<OpenWatch | undefined>,
): Promise<number> {
  const opened = await open();
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch: boundedFetch });
  const write = (message: object): void => void output.write(`${JSON.stringify(message)}\n`);
  const fail = (id: unknown, code: number, message: string): void =>
    write({ jsonrpc: '2.0', id, error: { code, message } });
  const onmessage: NonNullable<StreamableHTTPClientTransport['onmessage']> = (message) => {
    const line = Buffer.from(`${JSON.stringify(message)}\n`);
    if ('result' in message && typeof message.result['protocolVersion'] === 'string') {
      transport.setProtocolVersion(message.result['protocolVersion']);
    }
    output.write(opened?.watch.server.line(line) ?? line);
  };
  Object.assign(transport, { onmessage });
  /** Resolves when the next message may be sent. For a request this is immediately, because the response may take any time. */
  const send = async (line: Buffer): Promise<void> => {
    const message = jsonOf(line.toString());
    if (message === undefined) return fail(null, PARSE_ERROR, 'this line is no JSON');
    const requests = (Array.isArray(message) ? message : [message])
      .filter(isJsonObject)
      .filter(({ id, method }) => id !== undefined && method !== undefined);
    // The server rejects messages that it does not understand.
    const sent = transport.send(message as unknown as Message).catch((error: unknown) => {
      for (const { id } of requests) {
        const answer = { jsonrpc: '2.0', id, error: { code: SERVER_ERROR, message: messageOf(error) } };
        opened?.watch.server.line(Buffer.from(JSON.stringify(answer)));
        write(answer);
      }
    });
    if (requests.length === 0) await sent;
  };
  let before = Promise.resolve();
  await transport.start();
  const lines = new LineTap({
    maxBytes: MAX_BYTES,
    line: (line) => {
      if (line.toString().trim() === '') return line;
      opened?.watch.client.line(line);
      before = before.then(async () => send(line));
      return line;
    },
    longLine: () => fail(null, PARSE_ERROR, `a message of more than ${MAX_BYTES} bytes is not passed on`),
  });
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  await Promise.race([pipeline(input, lines, nowhere), finished(output, { readable: false })]).catch(() => undefined);
  await transport.terminateSession().catch(() => undefined);
  await transport.close();
  await opened?.close('ended');
  return 0;
}

/** Like `fetch`, but aborts the stream if a server message (a body, or a line of a stream) is too large. */
async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  let size = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      const end = chunk.lastIndexOf(NEWLINE);
      size = end === -1 ? size + chunk.length : chunk.length - end - 1;
      if (size > MAX_BYTES) controller.error(new Error(`a message of more than ${MAX_BYTES} bytes`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bound), { status, statusText, headers });
}
