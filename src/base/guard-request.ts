import type { IncomingMessage } from 'node:http';

import { CoxswainError } from './error.ts';
import { present } from './present.ts';

/** The names under which a program on this machine reaches a server on its loopback addresses. */
export function allowedHosts(port: number): readonly string[] {
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST']);
/** What an address may hold: no control character, no backslash, nothing that is not ASCII, no broken escape. */
const TARGET = /^\/(?!\/)(?:[!"$&-;=?-[\]^-~]|%[0-9A-Fa-f]{2})*$/;
const MAX_TARGET_CHARS = 16_384;
/** Of what is sent by a page of another origin; `none` is the address bar. */
const ALLOWED_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Refuses every request of a browser that is not of a page of the server itself, or of its user: another host name (DNS rebinding), another
 * origin, another site, also for event streams and all documents but the bare page, and addresses that are not plain. Looks at the request as it came,
 * before anything has normalised it.
 *
 * @throws CoxswainError with the reason `forbidden`
 */
export function guardRequest(request: IncomingMessage, hosts: readonly string[]): void {
  const { method = '', url = '' } = request;
  if (!METHODS.has(method)) throw forbidden(`the method ${method} is not answered`);
  if (url.length > MAX_TARGET_CHARS || !TARGET.test(url) || /%00/.test(url)) {
    throw forbidden('the address is not plain');
  }
  const host = only(request, 'host');
  if (host === undefined || !hosts.includes(host)) {
    throw forbidden('the Host is another one than this server', `Open the address that coxswain view printed.`);
  }
  const origin = only(request, 'origin');
  if (origin === undefined || (origin !== '' && origin !== `http://${host}`)) {
    throw forbidden('the Origin is another one than this server');
  }
  const site = only(request, 'sec-fetch-site');
  if (site === undefined || (site !== '' && !ALLOWED_SITES.has(site) && !opensPage(request))) {
    throw forbidden('another site may not ask this server');
  }
  // A page of the server says where it comes from whenever it sends something.
  if (method === 'POST' && site === 'none') throw forbidden('only a page of this server may write');
}

/**
 * The page itself, opened in a window of its own: as from the file that a browser is started with, whose origin is another
 * one. It holds nothing of a run; what it asks for then comes from the viewer's own origin.
 */
function opensPage(request: IncomingMessage): boolean {
  const { method, url } = request;
  const isNavigation = only(request, 'sec-fetch-mode') === 'navigate' && only(request, 'sec-fetch-dest') === 'document';
  return isNavigation && method === 'GET' && url === '/';
}

/** A header that may come once; the empty text where it does not come, undefined where it comes more than once. */
function only(request: IncomingMessage, name: string): string | undefined {
  const { rawHeaders } = request;
  const values = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
  return values.length > 1 ? undefined : (values[0] ?? '');
}

function forbidden(message: string, fix?: string): CoxswainError {
  return new CoxswainError('invalid-argument', message, { details: { reason: 'forbidden', ...present({ fix }) } });
}
