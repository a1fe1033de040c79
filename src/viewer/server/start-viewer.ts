import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { resolve as absolute } from 'node:path';

import { getRequestListener } from '@hono/node-server';

import { systemClock } from '../../core/base/clock.ts';
import { CoxswainError, messageOf } from '../../core/base/error.ts';
import {
  boundConnections,
  closeServer,
  UNPROVEN_LIMITS,
  allowedHosts,
  guardRequest,
} from '../../core/node/guard-request.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { LiveReader } from '../../core/store/trajectory-store.ts';
import type { FoundSession } from '../../formats/find-sessions.ts';
import { openStoreReader, storeKindAt } from '../../stores/registry/open-store.ts';
import { shownAddress } from '../../stores/store-address.ts';
import { LabelsFile } from './labels-file.ts';
import { listedSource } from './listed-source.ts';
import { readFiles } from './read-files.ts';
import { RunList } from './run-list.ts';
import { Sessions, type FailingReader } from './sessions.ts';
import { pageFolder as builtPageFolder } from './static-files.ts';
import { cookieOf, createViewerApp, SECURITY_HEADERS, sessionCookie } from './viewer-app.ts';
import { problemOf } from './viewer-fault.ts';
import { ViewerSource } from './viewer-source.ts';

export interface ViewerOptions {
  readonly paths: readonly string[];
  /** Session files of agent programs, newest first. They are one more source. A session that a store also has is listed once. */
  readonly sessions?: readonly FoundSession[];
  /** Port from 0 to 65535. 0 picks a free port. Default: 7717, or the next free port. */
  readonly port?: number;
  /** Path of the labels file. Default: `labels.csv` in the working folder. It is created with the first label. */
  readonly labels?: string;
  readonly pageFolder?: string;
  readonly cacheFolder?: string;
  /** Returns true for a run whose process is known to be gone. Default: none is. */
  readonly isKilled?: (run: RunSummary) => boolean;
  /** Asked when all runs are listed. Default: nothing is known to keep failing. */
  readonly failing?: FailingReader;
}

export interface RunningViewer {
  readonly port: number;
  readonly url: string;
  urlOnce(): string;
  close(): Promise<void>;
}

const DEFAULT_PORT = 7717;
const PORTS_TRIED = 20;

/** Serves 127.0.0.1 and, if available, ::1. Throws CoxswainError `input-io` if a path is missing or the port is taken. */
export async function startViewer(options: ViewerOptions): Promise<RunningViewer> {
  const stop = new AbortController();
  const sessions = new Sessions(() => systemClock.nowMs());
  const { paths, sessions: found = [] } = options;
  const named = await Promise.all(paths.map((path, index) => openSource(String(index), path)));
  const sources = found.length === 0 ? named : [...named, openSessions(String(paths.length), found)];
  const listed = sources.map((source) => listedSource(source, options));
  const labels = new LabelsFile(absolute(options.labels ?? 'labels.csv'));
  let listener: ProvingListener = (_request, response) => void response.writeHead(503).end();
  const { port, servers } = await listen(options.port, (...request) => listener(...request));
  const app = createViewerApp({
    state: { sources, list: new RunList(listed, labels), labels, failing: options.failing },
    sessions,
    pageFolder: options.pageFolder ?? builtPageFolder(),
    port,
    signal: stop.signal,
  });
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const cookie = sessionCookie(port);
  // The listener turns every error into a response.
  const provingListener: ProvingListener = (request, response, prove) => {
    if (sessions.isOpen(cookieOf(request.headers.cookie, cookie))) prove(request.socket);
    void answer(request, response);
  };
  listener = guardListener(provingListener, port);
  const urlOf = (token: string): string => `http://127.0.0.1:${port}/#token=${token}`;
  return {
    port,
    url: urlOf(sessions.token),
    urlOnce: () => urlOf(sessions.issueOnce()),
    close: async () => {
      stop.abort();
      await Promise.all(servers.map((server) => closeServer(server)));
      await Promise.all(sources.map((source) => source.close()));
      for (const { overviews } of listed) overviews.close();
    },
  };
}

/** Handles a request, and calls `prove` if the connection has a valid session. */
type ProvingListener = (request: IncomingMessage, response: ServerResponse, prove: (socket: Socket) => void) => void;

function guardListener(listener: ProvingListener, port: number): ProvingListener {
  const hosts = allowedHosts(port);
  return (request, response, prove) => {
    try {
      guardRequest(request, hosts);
    } catch (error) {
      const { problem, status } = problemOf(error);
      response.writeHead(status, { ...SECURITY_HEADERS, 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify({ error: problem }));
      return;
    }
    listener(request, response, prove);
  };
}

interface BoundServers {
  readonly port: number;
  readonly servers: readonly Server[];
}

async function listen(requestedPort: number | undefined, listener: ProvingListener): Promise<BoundServers> {
  if (requestedPort !== undefined) {
    const boundServers = await tryPort(requestedPort, listener);
    if (boundServers !== undefined) return boundServers;
    throw new CoxswainError(
      'input-io',
      `port ${requestedPort} is taken; give another one, or none to use the next free one`,
    );
  }
  for (let port = DEFAULT_PORT; port < DEFAULT_PORT + PORTS_TRIED; port += 1) {
    const boundServers = await tryPort(port, listener);
    if (boundServers !== undefined) return boundServers;
  }
  return listen(0, listener);
}

async function tryPort(requestedPort: number, listener: ProvingListener): Promise<BoundServers | undefined> {
  const ipv4Server = await listenAt('127.0.0.1', requestedPort, listener);
  if (ipv4Server === 'taken' || ipv4Server === 'absent') return undefined;
  const address = ipv4Server.address();
  const port = typeof address === 'object' && address !== null ? address.port : requestedPort;
  const ipv6Server = await listenAt('::1', port, listener);
  if (ipv6Server === 'absent') return { port, servers: [ipv4Server] };
  if (ipv6Server !== 'taken') return { port, servers: [ipv4Server, ipv6Server] };
  // Otherwise `localhost` could lead a browser to another server.
  await closeServer(ipv4Server);
  return requestedPort === 0 ? tryPort(0, listener) : undefined;
}

async function listenAt(host: string, port: number, listener: ProvingListener): Promise<Server | 'taken' | 'absent'> {
  const { backlog, checkMs, headersMs } = UNPROVEN_LIMITS;
  const options = { requireHostHeader: true, headersTimeout: headersMs, connectionsCheckingInterval: checkMs };
  const server = createServer(options);
  const { prove } = boundConnections(server);
  server.on('request', (request, response) => listener(request, response, prove));
  return await new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve('taken');
      else if (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT') resolve('absent');
      else reject(error);
    });
    server.listen({ host, port, backlog, exclusive: true, ipv6Only: true }, () => resolve(server));
  });
}

const WAIT_MS = 1_000;

/** The content decides: a store is opened read-only, files are imported. Throws CoxswainError `input-io`. */
async function openSource(id: string, path: string): Promise<ViewerSource> {
  const kind = await storeKindAt(path);
  if (kind === 'memory') throw new CoxswainError('input-io', 'memory: is always empty; give a stored run');
  if (kind !== undefined) {
    const open = (): Promise<LiveReader> => openStoreReader(path, { waitMs: WAIT_MS });
    return new ViewerSource({ id, path: shownAddress(path), kind, open });
  }
  if (!/[*?[{]/.test(path)) await requireExists(path);
  return new ViewerSource({ id, path, kind: 'files', open: () => readFiles(path) });
}

function openSessions(id: string, sessions: readonly FoundSession[]): ViewerSource {
  return new ViewerSource({ id, path: 'agent sessions', kind: 'sessions', open: () => readFiles(sessions) });
}

async function requireExists(path: string): Promise<void> {
  const stats = await stat(path).catch((error: unknown) => {
    throw new CoxswainError('input-io', `${path} cannot be opened: ${messageOf(error)}`, { cause: error });
  });
  if (stats.isFile() && stats.size === 0)
    throw new CoxswainError('input-io', `${path} cannot be shown: the file is empty`);
}
