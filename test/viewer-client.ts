import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';

import type { RunningViewer } from '../src/viewer/server/start-viewer.ts';

/** A response. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Parts of a request. */
export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Default 127.0.0.1. */
  readonly host?: string;
}

/** Asks a viewer as it is told to, like a program that is no browser. Paths are sent as they are. */
export function ask(viewer: RunningViewer, path: string, { body, headers, host, method }: Asked = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      host: host ?? '127.0.0.1',
      port: viewer.port,
      path,
      method: method ?? 'GET',
      headers: { connection: 'close', ...headers },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on('error', reject);
    });
    sent.end(body);
  });
}

/** The token of an address. */
export function tokenOf(url: string): string {
  return new URL(url).hash.slice('#token='.length);
}

/** Changes a token for the session's cookie. */
export async function openSession(viewer: RunningViewer, token: string = tokenOf(viewer.url)): Promise<Answer> {
  return ask(viewer, '/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-coxswain': '1' },
    body: JSON.stringify({ token }),
  });
}

/** A page of the viewer that has a session. */
export interface Page {
  readonly cookie: string;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** The answer's JSON, of which a test looks at what it needs. */
  json<Shape>(path: string): Promise<Shape>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

export async function openPage(viewer: RunningViewer): Promise<Page> {
  const opened = await openSession(viewer);
  const cookie = (opened.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
  return {
    cookie,
    get: (path, headers) => ask(viewer, path, { headers: { cookie, ...headers } }),
    json: async (path) => {
      const { status, text } = await ask(viewer, path, { headers: { cookie } });
      if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
      // The shape of the API; a wrong assumption fails on the members.
      return JSON.parse(text);
    },
    post: (path, body, headers) =>
      ask(viewer, path, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', 'x-coxswain': '1', ...headers },
        body: JSON.stringify(body),
      }),
  };
}

/** Sends bytes over a socket and gives all that comes back until the server closes. */
export function sendRaw(viewer: RunningViewer, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(viewer.port, '127.0.0.1', () => socket.write(text));
    let all = '';
    socket.setEncoding('utf8').on('data', (piece: string) => (all += piece));
    socket.on('close', () => resolve(all));
    socket.on('error', reject);
  });
}

/** An event of a stream. */
export interface StreamEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: unknown;
}

/** An event stream that is open. */
export interface Stream {
  readonly status: number;
  /** The next event that is wanted; those before it are passed over. */
  next(wanted: (event: StreamEvent) => boolean): Promise<StreamEvent>;
  close(): void;
}

export function openStream(
  viewer: RunningViewer,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: '127.0.0.1', port: viewer.port, path, headers });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const events: StreamEvent[] = [];
      let rest = '';
      let wake = (): void => {};
      response.on('error', () => {});
      response.setEncoding('utf8').on('data', (piece: string) => {
        rest += piece;
        const parts = rest.split('\n\n');
        rest = parts.pop() ?? '';
        for (const part of parts) events.push(eventOf(part));
        wake();
      });
      resolve({
        status: response.statusCode ?? 0,
        next: async (wanted) => {
          for (;;) {
            const event = events.shift();
            if (event !== undefined && wanted(event)) return event;
            if (event !== undefined) continue;
            await new Promise<void>((go) => {
              wake = go;
            });
          }
        },
        close: () => sent.destroy(),
      });
    });
    sent.end();
  });
}

function eventOf(text: string): StreamEvent {
  const fields = new Map(
    text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  const id = fields.get('id');
  return {
    event: fields.get('event') ?? 'message',
    data: JSON.parse(fields.get('data') ?? 'null'),
    ...(id === undefined ? {} : { id }),
  };
}
