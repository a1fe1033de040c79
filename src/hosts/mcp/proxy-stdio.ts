import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Writable } from 'node:stream';

import { CoxswainError } from '../../core/base/error.ts';
import { LineTap } from './line-tap.ts';
import type { OpenWatch } from './mcp-watch.ts';

export interface ClientStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: Writable;
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** Maximum wait for the output of a server that has exited. Another process may keep the output open. */
const DRAIN_MS = 1_000;

/**
 * Forwards signals; the server inherits standard error.
 *
 * @param open  creates the watch while the server starts
 * @returns the server's exit code; 128 plus the signal number
 * @throws CoxswainError "invalid-argument" if the command cannot be started
 */
export async function proxyStdio(
  [command = '', ...args]: readonly string[],
  { input, output }: ClientStreams,
  open: () => Promise<OpenWatch | undefined>,
): Promise<number> {
  const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const serverStart = once(server, 'spawn').catch((error: unknown) => {
    throw new CoxswainError('invalid-argument', `${command} cannot be started`, { cause: error });
  });
  const serverExit = new Promise<number>((resolve) => {
    server.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });
  await serverStart;
  for (const signal of SIGNALS) process.removeAllListeners(signal).on(signal, () => server.kill(signal));
  process.once('exit', () => server.kill());
  const openedWatch = await open();
  const { watch } = openedWatch ?? {};
  const toServer =
    watch === undefined ? pipeline(input, server.stdin) : pipeline(input, new LineTap(watch.client), server.stdin);
  const toClient =
    watch === undefined
      ? pipeline(server.stdout, output, { end: false })
      : pipeline(server.stdout, new LineTap(watch.server), output, { end: false });
  // The client or the server may disconnect at any time.
  toServer.catch(() => undefined);
  const drained = toClient.catch(() => undefined);
  const code = await serverExit;
  await Promise.race([drained, sleep(DRAIN_MS)]);
  await openedWatch?.close(code === 0 ? 'ended' : 'error');
  return code;
}
