import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { Pool } from 'pg';
import { afterEach, expect, test } from 'vitest';

import { clientFromPool, isLostConnection } from './postgres-client.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Starts a server that accepts each connection and shuts down in the same packet, before the client has sent a statement. */
async function startEndingServer(): Promise<Server> {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.end(
        Buffer.concat([
          message('R', Buffer.alloc(4)),
          message('Z', Buffer.from('I')),
          message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0')),
        ]),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(async () => {
    server.close();
    await once(server, 'close');
  });
  return server;
}

function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

test('a server that ends a connection as it is acquired makes calls reject, and does not end the process', async () => {
  // Vitest reports an error event without a listener as an uncaught exception, with which the run fails.
  const { port } = (await startEndingServer()).address() as AddressInfo;
  const pool = new Pool({ connectionString: `postgres://someone@127.0.0.1:${port}/any` });
  cleanUps.push(() => pool.end());
  const client = clientFromPool(pool);
  const listener = { onListening: () => undefined, onMessage: () => undefined };
  await expect(client.transaction((session) => session.query('SELECT 1'))).rejects.toSatisfy(isLostConnection);
  await expect(client.query('SELECT 1')).rejects.toSatisfy(isLostConnection);
  await expect(client.listen('changes', listener)).rejects.toSatisfy(isLostConnection);
});
