import { once } from 'node:events';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { UNPROVEN_LIMITS } from '../src/core/node/guard-request.ts';
import { startOtlpServer } from '../src/hosts/otlp/otlp-server.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { testFolder } from './support/test-folder.ts';
import { startViewer } from '../src/viewer/server/start-viewer.ts';
import { openPage, openStream } from './viewer-client.ts';

const TOKEN = 'a token of the tests that is long enough';

/** A connection that sends half of a request and nothing more. */
async function halfOpen(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  socket.resume();
  await once(socket, 'connect');
  socket.write('GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n');
  return socket;
}

/** More than there is room for, one after the other; the first of them, once they are ended. */
async function flood(port: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  for (let count = 0; count < UNPROVEN_LIMITS.connections + 50; count += 1) sockets.push(await halfOpen(port));
  const ended = sockets.slice(0, 50);
  await Promise.all(ended.map(async (socket) => socket.closed || (await once(socket, 'close'))));
  return ended;
}

interface Sent {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function status(port: number, { path = '/health', headers = {} }: Sent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });
}

test('half-open connections of other users do not silence the receiver of OpenTelemetry', async () => {
  const endpoint = { answer: async (_request: IncomingMessage, response: ServerResponse) => void response.end() };
  const server = await startOtlpServer({ host: '127.0.0.1', port: 0, token: TOKEN, endpoint });
  onTestFinished(() => server.close());
  expect(await flood(server.port)).toHaveLength(50);
  const headers = { authorization: `Bearer ${TOKEN}` };
  expect(await status(server.port, { path: '/v1/traces', headers })).toBe(200);
});

test('half-open connections do not end a stream of the viewer that has a session, nor keep a page from opening', async () => {
  const folder = testFolder();
  const path = join(folder, 'runs.db');
  await sqliteStore(path).close();
  const viewer = await startViewer({ paths: [path], port: 0 });
  onTestFinished(() => viewer.close());
  const page = await openPage(viewer);
  const stream = await openStream(viewer, '/api/events', { cookie: page.cookie });
  let isOpen = true;
  void stream.next(() => false).catch(() => (isOpen = false));
  expect(await flood(viewer.port)).toHaveLength(50);
  expect((await openPage(viewer)).cookie).toBe(page.cookie);
  expect([stream.status, isOpen]).toEqual([200, true]);
  stream.close();
});
