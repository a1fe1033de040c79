import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';

/** Stands between a client and a server of this machine and breaks their connections. */
export interface TcpProxy {
  readonly port: number;
  /** Breaks all connections now. New ones are taken. */
  drop(): void;
  /** The next answer of the server on any connection never arrives: its connection breaks instead. */
  swallowNextAnswer(): void;
  /** Connections made from now on go to another server. */
  pointTo(port: number): void;
  dispose(): Promise<void>;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let swallows = false;
  let towards = targetPort;
  const server = createServer((client) => {
    const target = connect(towards, '127.0.0.1');
    const pair = [client, target] as const;
    pairs.add(pair);
    const close = (): void => {
      pairs.delete(pair);
      client.destroy();
      target.destroy();
    };
    for (const socket of pair) socket.on('error', close).on('close', close);
    client.on('data', (data) => target.write(data));
    target.on('data', (data) => {
      if (!swallows) client.write(data);
      else {
        swallows = false;
        close();
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('a server on a port has an address');

  function drop(): void {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    pairs.clear();
  }

  return {
    port: address.port,
    drop,
    swallowNextAnswer: () => {
      swallows = true;
    },
    pointTo: (port) => {
      towards = port;
    },
    async dispose(): Promise<void> {
      server.close();
      drop();
      await once(server, 'close');
    },
  };
}
