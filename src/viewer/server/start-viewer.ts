import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { getRequestListener } from '@hono/node-server';

import { boundConnections, UNPROVEN_LIMITS } from '../../base/bound-connections.ts';
import { systemClock } from '../../base/clock.ts';
import { CoxswainError } from '../../base/error.ts';
import { allowedHosts, guardRequest } from '../../base/guard-request.ts';
import { LruMap } from '../../base/lru-map.ts';
import { Configurations } from './configurations.ts';
import { LabelsFile } from './labels-file.ts';
import { openSource } from './open-source.ts';
import { ReportFiles } from './report-files.ts';
import { listedSource } from './listed-source.ts';
import { RunList } from './run-list.ts';
import { Sessions } from './sessions.ts';
import { pageFolder as builtPageFolder } from './static-files.ts';
import { cookieOf, createViewerApp, SECURITY_HEADERS, sessionCookie } from './viewer-app.ts';
import { problemOf } from './viewer-fault.ts';

/** What a viewer is started with. */
export interface ViewerOptions {
  /** Stores, files, folders, globs. At least one. */
  readonly paths: readonly string[];
  /** 0 to 65535; 0 is any free one. Default: 7717, or the next free one. */
  readonly port?: number;
  /** Where labels are read from and written to. */
  readonly labels?: string;
  /** Backtest reports as JSON. */
  readonly reports?: readonly string[];
  /** Configurations that runs may be replayed under, beside the standard set. */
  readonly configs?: readonly string[];
  /** Its configuration in force may be picked too. Default: none. */
  readonly projectFolder?: string;
  /** The built page; default: where the build puts it. */
  readonly pageFolder?: string;
  /** Where what was seen in runs is kept for the next start; default: nowhere. */
  readonly cacheFolder?: string;
}

/** A viewer that runs. */
export interface RunningViewer {
  readonly port: number;
  /** With the token of this start: good until `close`. */
  readonly url: string;
  /** An address that is good once, for a minute: for starting a browser with. */
  urlOnce(): string;
  /** Ends event streams, closes what is open, and deletes what was read of files. */
  close(): Promise<void>;
}

const DEFAULT_PORT = 7717;
const PORTS_TRIED = 20;
/** Comparisons that are kept: up to 20 MB each. */
const MAX_COMPARISONS = 4;

/**
 * Starts the viewer's server on the loopback addresses of this machine, 127.0.0.1 and, where there is one, ::1. Stores are opened
 * for reading only, when they are first asked for.
 *
 * @throws CoxswainError `input-io` when nothing is at a path, or the port that was asked for is taken; `invalid-argument` for a
 *   configuration that cannot be used
 */
export async function startViewer(options: ViewerOptions): Promise<RunningViewer> {
  const stop = new AbortController();
  const sessions = new Sessions(() => systemClock.nowMs());
  const configurations = new Configurations({ files: options.configs ?? [], projectFolder: options.projectFolder });
  await configurations.check();
  const sources = await Promise.all(options.paths.map((path, index) => openSource(String(index), path)));
  const listed = sources.map((source) => listedSource(source, options.cacheFolder));
  let listener: ProvingListener = (_request, response) => void response.writeHead(503).end();
  const { port, servers } = await listen(options.port, (...asked) => listener(...asked));
  const app = createViewerApp({
    state: {
      sources,
      list: new RunList(listed),
      labels: new LabelsFile(options.labels),
      reports: new ReportFiles(options.reports ?? []),
      configurations,
      comparisons: new LruMap(MAX_COMPARISONS),
    },
    sessions,
    pageFolder: options.pageFolder ?? builtPageFolder(),
    port,
    signal: stop.signal,
  });
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const cookie = sessionCookie(port);
  // What it throws, it answers.
  const proving: ProvingListener = (request, response, prove) => {
    if (sessions.isOpen(cookieOf(request.headers.cookie, cookie))) prove(request.socket);
    void answer(request, response);
  };
  listener = guarded(proving, port);
  const urlOf = (token: string): string => `http://127.0.0.1:${port}/#token=${token}`;
  return {
    port,
    url: urlOf(sessions.token),
    urlOnce: () => urlOf(sessions.issueOnce()),
    close: async () => {
      stop.abort();
      await Promise.all(servers.map(closed));
      await Promise.all(sources.map((source) => source.close()));
      for (const { looks } of listed) looks.close();
    },
  };
}

/** Takes a request, and calls `prove` with a connection that has a session. */
type ProvingListener = (request: IncomingMessage, response: ServerResponse, prove: (socket: Socket) => void) => void;

function guarded(listener: ProvingListener, port: number): ProvingListener {
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

interface Listening {
  readonly port: number;
  readonly servers: readonly Server[];
}

async function listen(wanted: number | undefined, listener: ProvingListener): Promise<Listening> {
  if (wanted !== undefined) {
    const listening = await tryPort(wanted, listener);
    if (listening !== undefined) return listening;
    throw new CoxswainError('input-io', `port ${wanted} is taken; give another one, or none to take the next free one`);
  }
  for (let port = DEFAULT_PORT; port < DEFAULT_PORT + PORTS_TRIED; port += 1) {
    const listening = await tryPort(port, listener);
    if (listening !== undefined) return listening;
  }
  return listen(0, listener);
}

/** @returns undefined when somebody else has the port at one of the addresses */
async function tryPort(wanted: number, listener: ProvingListener): Promise<Listening | undefined> {
  const first = await listenAt('127.0.0.1', wanted, listener);
  if (first === 'taken' || first === 'absent') return undefined;
  const address = first.address();
  const port = typeof address === 'object' && address !== null ? address.port : wanted;
  const second = await listenAt('::1', port, listener);
  if (second === 'absent') return { port, servers: [first] };
  if (second !== 'taken') return { port, servers: [first, second] };
  // A browser might take the other one's page for this one's under the name localhost.
  await closed(first);
  return wanted === 0 ? tryPort(0, listener) : undefined;
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

async function closed(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
