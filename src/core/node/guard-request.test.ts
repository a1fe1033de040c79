import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { allowedHosts, guardRequest } from './guard-request.ts';

function passes(url: string, headers: readonly string[] = [], method = 'GET'): boolean {
  const request = new IncomingMessage(new Socket());
  request.method = method;
  request.url = url;
  request.rawHeaders = ['Host', '127.0.0.1:1', ...headers];
  try {
    guardRequest(request, allowedHosts(1));
    return true;
  } catch {
    return false;
  }
}

test('every address that a page of ours can make passes, whatever a run is called', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (id) => {
      const isPlain = id.isWellFormed() && !id.includes('\u0000');
      fc.pre(isPlain);
      expect(
        passes(`/api/runs/0/${encodeURIComponent(id)}/records?from=0&${new URLSearchParams({ q: id }).toString()}`),
      ).toBe(true);
    }),
  );
});

test('an address with a raw control character, a blank, a backslash, a broken escape, or NUL is refused', () => {
  for (const url of [
    '',
    'x',
    '//x',
    '/a b',
    '/a\tb',
    '/a\\b',
    '/a%',
    '/a%2',
    '/a%zz',
    '/a%00',
    '/a?q=%00',
    '/é',
    '/a\u0000',
    '/#a',
    '*',
  ]) {
    expect([url, passes(url)]).toEqual([url, false]);
  }
  expect(passes(`/${'a'.repeat(20_000)}`)).toBe(false);
});

test('another site may open the bare page in a window, and nothing else', () => {
  const from = (mode: string, dest: string): readonly string[] =>
    Object.entries({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': mode, 'Sec-Fetch-Dest': dest }).flat();
  expect(passes('/', from('navigate', 'document'))).toBe(true);
  expect(passes('/', from('navigate', 'document'), 'POST')).toBe(false);
  for (const url of ['/?a', '/api/runs', '/assets/app.js'])
    expect(passes(url, from('navigate', 'document'))).toBe(false);
  for (const [mode, dest] of [
    ['navigate', 'iframe'],
    ['no-cors', 'document'],
    ['cors', 'empty'],
  ] as const) {
    expect(passes('/', from(mode, dest))).toBe(false);
  }
});

test('a header that comes twice is refused', () => {
  expect(passes('/', ['host', '127.0.0.1:1'])).toBe(false);
  expect(passes('/', ['Origin', 'http://127.0.0.1:1'])).toBe(true);
  expect(passes('/', ['Origin', 'http://127.0.0.1:1', 'origin', 'http://127.0.0.1:1'])).toBe(false);
  expect(passes('/', ['Sec-Fetch-Site', 'same-origin', 'sec-fetch-site', 'cross-site'])).toBe(false);
});
