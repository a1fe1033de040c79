import type { IncomingMessage } from 'node:http';

import { viewerFault } from './viewer-fault.ts';

/** The names under which a browser on this machine reaches the viewer. */
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
 * Refuses every request that is not of a page of the viewer itself, or of its user: another host name (DNS rebinding), another
 * origin, another site, also for event streams and all documents but the bare page, and addresses that are not plain. Looks at the request as it came,
 * before anything has normalised it.
 *
 * @throws CoxswainError with the reason `forbidden`
 */
export function guardRequest(request: IncomingMessage, hosts: readonly string[]): void {
  const { method = '', url = '' } = request;
  if (!METHODS.has(method)) throw viewerFault('forbidden', `the method ${method} is not answered`);
  if (url.length > MAX_TARGET_CHARS || !TARGET.test(url) || /%00/.test(url)) {
    throw viewerFault('forbidden', 'the address is not plain');
  }
  const host = only(request, 'host');
  if (host === undefined || !hosts.includes(host)) {
    throw viewerFault('forbidden', 'the Host is not the viewer', `Open the address that coxswain view printed.`);
  }
  const origin = only(request, 'origin');
  if (origin === undefined || (origin !== '' && origin !== `http://${host}`)) {
    throw viewerFault('forbidden', 'the Origin is not the viewer');
  }
  const site = only(request, 'sec-fetch-site');
  if (site === undefined || (site !== '' && !ALLOWED_SITES.has(site) && !opensPage(request))) {
    throw viewerFault('forbidden', 'another site may not ask the viewer');
  }
  // A page of the viewer says where it comes from whenever it sends something.
  if (method === 'POST' && site === 'none') throw viewerFault('forbidden', 'only a page of the viewer may write');
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
