import { wholeOption } from '../../terminal/option-values.ts';
import { randomBytes, randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { CoxswainError } from '../../../core/base/error.ts';
import {
  readServeSettings,
  removeServeSettings,
  writeServeSettings,
  type ServeSettings,
} from '../../../hosts/claude-code/serve-settings.ts';
import { stopServer } from '../../../hosts/claude-code/server-process.ts';

/** First port to try. It is below the range of outgoing connections, so that the selected port remains free. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;
const TRIES = 20;
const TOKEN_BYTES = 32;

/**
 * Returns the settings of the project's server: existing settings with the current program path, or new settings.
 *
 * @throws CoxswainError `invalid-argument` for a port out of range; `input-io` if existing settings are invalid or no port is free
 */
export async function serverFor(projectFolder: string, port: string | undefined): Promise<ServeSettings> {
  const previous = readServeSettings(projectFolder);
  const wantedPort = wholeOption('--port', port, [1024, 65_535]);
  return {
    port: wantedPort ?? previous?.port ?? (await freePort()),
    token: previous?.token ?? randomBytes(TOKEN_BYTES).toString('base64url'),
    program: [process.execPath, fileURLToPath(new URL(`../../bin${extname(import.meta.url)}`, import.meta.url))],
  };
}

/** Writes changed settings and stops a server that runs with the old settings. @throws CoxswainError `input-io` */
export async function putServer(projectFolder: string, settings: ServeSettings): Promise<void> {
  const previous = readServeSettings(projectFolder);
  if (JSON.stringify(previous) === JSON.stringify(settings)) return;
  writeServeSettings(projectFolder, settings);
  if (previous !== undefined) await stopServer(projectFolder);
}

/** Stops the server of a project and removes its settings. @returns a message; undefined if no server was running */
export async function takeServerAway(projectFolder: string): Promise<string | undefined> {
  const wasRunning = await stopServer(projectFolder);
  removeServeSettings(projectFolder);
  return wasRunning ? 'the server is stopped' : undefined;
}

async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = FIRST_PORT + randomInt(PORTS);
    if (await isFree(port)) return port;
  }
  throw new CoxswainError('input-io', `none of ${TRIES} ports was free; give one with --port`);
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port }, () => server.close(() => resolve(true)));
  });
}
