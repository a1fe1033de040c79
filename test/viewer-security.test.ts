import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { connect } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { scriptedRecords, times } from './support/scripted-run.ts';
import { tempFolder } from './support/temp-folder.ts';
import { openSqliteReader } from '../src/stores/sqlite/sqlite-reader.ts';
import { startViewer, type RunningViewer } from '../src/viewer/server/start-viewer.ts';
import { ask, openPage, openSession, sendRaw, tokenOf, type Page } from './viewer-client.ts';

let folder: Awaited<ReturnType<typeof tempFolder>>;
let viewer: RunningViewer;
let page: Page;

beforeAll(async () => {
  folder = await tempFolder();
  const site = join(folder.path, 'site');
  await mkdir(join(site, 'assets'), { recursive: true });
  await writeFile(join(site, 'index.html'), '<!doctype html><title>page</title>');
  await writeFile(join(site, 'assets', 'app.js'), 'export {}');
  await writeFile(join(site, 'assets', '.hidden.js'), 'hidden');
  await writeFile(join(site, 'server.js'), 'secret');
  await writeFile(join(folder.path, 'secret.html'), 'secret');
  await mkdir(join(folder.path, 'elsewhere'));
  await writeFile(join(folder.path, 'elsewhere', 'secret.js'), 'secret');
  await symlink(join(folder.path, 'secret.html'), join(site, 'linked.html'));
  await symlink(join(folder.path, 'elsewhere', 'secret.js'), join(site, 'assets', 'linked.js'));
  const store = sqliteStore(join(folder.path, 'runs.db'));
  await store.append(scriptedRecords(times(3, { tool: 'bash', args: { command: 'make' } })));
  await store.close();
  viewer = await startViewer({
    paths: [join(folder.path, 'runs.db')],
    port: 0,
    pageFolder: site,
    labels: join(folder.path, 'labels.csv'),
  });
  page = await openPage(viewer);
});

afterAll(async () => {
  await viewer.close();
  await folder.dispose();
});

const EVERY_PATH = [
  '/',
  '/assets/app.js',
  '/api/session',
  '/api/sources',
  '/api/runs',
  '/api/runs/0/run',
  '/api/runs/0/run/records',
  '/api/runs/0/run/events',
  '/api/runs/0/run/export.html',
  '/api/events',
  '/api/labels',
  '/api/nothing',
];

test('it does not listen at the network addresses of this machine', async () => {
  const outside = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal }) => !internal);
  for (const { address, scopeid } of outside) {
    const host = scopeid === undefined || scopeid === 0 ? address : `${address}%${scopeid}`;
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect({ host, port: viewer.port, timeout: 2_000 }, () => resolve(true));
      socket.on('error', () => resolve(false)).on('timeout', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    expect([address, isOpen]).toEqual([address, false]);
  }
  expect((await ask(viewer, '/')).status).toBe(200);
});

test('only the three names of this machine are accepted as Host, on every path', async () => {
  const { port } = viewer;
  for (const path of EVERY_PATH.filter((one) => !one.endsWith('events'))) {
    const headers = { cookie: page.cookie };
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]) {
      expect((await ask(viewer, path, { headers: { ...headers, host } })).status).not.toBe(403);
    }
  }
  const wrong = [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
    `127.0.0.1:${port}.evil.example`,
  ];
  for (const path of EVERY_PATH) {
    for (const host of [
      ...wrong,
      `LOCALHOST:${port}`,
      `127.0.0.1:0${port}`,
      `user@127.0.0.1:${port}`,
      `0.0.0.0:${port}`,
    ]) {
      const answer = await ask(viewer, path, { headers: { cookie: page.cookie, host } });
      expect([path, host, answer.status]).toEqual([path, host, 403]);
    }
  }
});

test('a request without a Host, or with two, is refused', async () => {
  const host = `Host: 127.0.0.1:${viewer.port}`;
  expect(await sendRaw(viewer, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
  expect(await sendRaw(viewer, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 403 /);
  expect(await sendRaw(viewer, `GET / HTTP/1.1\r\n${host}\r\nHost: evil.example\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 40[03] /,
  );
  expect(await sendRaw(viewer, `GET / HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 /);
});

test('a foreign Origin gets 403 on every path, documents and event streams too', async () => {
  const { port } = viewer;
  const foreign = [
    'http://evil.example',
    'null',
    `https://127.0.0.1:${port}`,
    'http://127.0.0.1',
    `http://127.0.0.1:${port + 1}`,
  ];
  for (const path of EVERY_PATH) {
    for (const origin of [...foreign, `http://localhost:${port}`, `http://127.0.0.1:${port}.evil.example`]) {
      const answer = await ask(viewer, path, { headers: { cookie: page.cookie, origin } });
      expect([path, origin, answer.status]).toEqual([path, origin, 403]);
    }
  }
  const own = await ask(viewer, '/api/runs', { headers: { cookie: page.cookie, origin: `http://127.0.0.1:${port}` } });
  expect(own.status).toBe(200);
});

test('a request of another site gets 403 on every path, documents and event streams too', async () => {
  for (const path of EVERY_PATH) {
    for (const site of ['cross-site', 'same-site', 'anything']) {
      const answer = await ask(viewer, path, { headers: { cookie: page.cookie, 'sec-fetch-site': site } });
      expect([path, site, answer.status]).toEqual([path, site, 403]);
    }
  }
  for (const site of ['same-origin', 'none']) {
    expect((await ask(viewer, '/', { headers: { 'sec-fetch-site': site } })).status).toBe(200);
  }
});

test('no response allows another origin, and preflights are refused', async () => {
  const preflight = await ask(viewer, '/api/labels', {
    method: 'OPTIONS',
    headers: {
      origin: 'http://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-coxswain',
    },
  });
  expect(preflight.status).toBe(403);
  const answers = [preflight, ...(await Promise.all(['/', '/api/runs', '/api/nothing'].map((path) => page.get(path))))];
  for (const { headers } of answers) {
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
});

test('everything under /api needs the cookie, which a wrong token does not give', async () => {
  for (const path of EVERY_PATH.filter((one) => one.startsWith('/api'))) {
    expect([path, (await ask(viewer, path)).status]).toEqual([path, 401]);
    const wrong = { cookie: `coxswain-${viewer.port}=${'A'.repeat(43)}` };
    expect([path, (await ask(viewer, path, { headers: wrong })).status]).toEqual([path, 401]);
  }
  for (const token of ['', 'A'.repeat(43), tokenOf(viewer.url).slice(1), `${tokenOf(viewer.url)}x`]) {
    const answer = await openSession(viewer, token);
    expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined]);
  }
});

test('the token is only in the fragment, has 256 random bits, and differs with every start', async () => {
  const url = new URL(viewer.url);
  expect(url.search).toBe('');
  expect(Buffer.from(tokenOf(viewer.url), 'base64url')).toHaveLength(32);
  const other = await startViewer({ paths: [join(folder.path, 'runs.db')], port: 0 });
  try {
    expect(tokenOf(other.url)).not.toBe(tokenOf(viewer.url));
    expect((await openSession(other, tokenOf(viewer.url))).status).toBe(403);
    const stranger = await ask(other, '/api/runs', { headers: { cookie: page.cookie } });
    expect(stranger.status).toBe(401);
  } finally {
    await other.close();
  }
});

test('the cookie is only for the server and its own pages, and is not the token', async () => {
  const { headers, status } = await openSession(viewer);
  expect(status).toBe(204);
  const [cookie = ''] = headers['set-cookie'] ?? [];
  expect(cookie.split('; ').slice(1).toSorted()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict']);
  expect(cookie).not.toContain(tokenOf(viewer.url));
});

test('the address for a browser is valid once', async () => {
  const token = tokenOf(viewer.urlOnce());
  expect((await openSession(viewer, token)).status).toBe(204);
  expect((await openSession(viewer, token)).status).toBe(403);
});

test('writes need the header that another origin cannot send, a JSON body, and a request of the page', async () => {
  const label = { id: 'run@1', target: 'stuck' };
  const without = await ask(viewer, '/api/labels', {
    method: 'POST',
    headers: { cookie: page.cookie, 'content-type': 'application/json' },
    body: JSON.stringify(label),
  });
  expect(without.status).toBe(403);
  expect((await page.post('/api/labels', label, { 'content-type': 'text/plain' })).status).toBe(403);
  expect((await page.post('/api/labels', label, { 'sec-fetch-site': 'none' })).status).toBe(403);
  expect((await page.post('/api/labels', { ...label, note: 'x'.repeat(70_000) })).status).not.toBe(200);
  expect(await readdir(folder.path)).not.toContain('labels.csv');
  expect((await page.post('/api/labels', label)).status).toBe(200);
  expect(await readdir(folder.path)).toContain('labels.csv');
  for (const method of ['PUT', 'DELETE', 'PATCH', 'TRACE', 'HEAD']) {
    const answer = await ask(viewer, '/api/labels', { method, headers: { cookie: page.cookie, 'x-coxswain': '1' } });
    expect([method, answer.status]).toEqual([method, 403]);
  }
});

test('every response has the isolating headers, errors too', async () => {
  const answers = await Promise.all([
    page.get('/'),
    page.get('/api/runs'),
    page.get('/api/nothing'),
    ask(viewer, '/api/runs'),
    ask(viewer, '/', { headers: { origin: 'http://evil.example' } }),
  ]);
  for (const { headers } of answers) {
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("base-uri 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['x-frame-options']).toBe('DENY');
    expect(headers['cross-origin-resource-policy']).toBe('same-origin');
    expect(headers['cache-control']).toBe('no-store');
  }
});

test('the browser may store only the assets of the page, which contain no data', async () => {
  expect((await page.get('/assets/app.js')).headers['cache-control']).toBe('private, max-age=31536000, immutable');
});

test('only files of the page are served: no way up, no link, no hidden file, nothing escaped, no NUL', async () => {
  const outside = [
    '/../secret.html',
    '/assets/../../secret.html',
    '/assets/../index.html',
    '/./index.html',
    '/%2e%2e/secret.html',
    '/..%2fsecret.html',
    '/assets/%2e%2e%2f%2e%2e%2fsecret.html',
    '/assets%2fapp.js',
    '/assets/%61pp.js',
    '/..\\secret.html',
    '/..%5csecret.html',
    '/index.html%00.js',
    '/index.html\u0000',
    '/linked.html',
    '/assets/linked.js',
    '/assets/.hidden.js',
    '/server.js',
    '/assets',
    '/assets/',
    '//evil.example/index.html',
    `${folder.path}/secret.html`,
  ];
  for (const path of outside) {
    // A path that Node's client refuses to send goes over a socket.
    const text = await sendRaw(
      viewer,
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${viewer.port}\r\nConnection: close\r\n\r\n`,
    );
    expect([path, /^HTTP\/1.1 4\d\d /.test(text), /\r\n\r\n(?:secret|hidden)/.test(text)]).toEqual([path, true, false]);
  }
  const { headers, status, text } = await ask(viewer, '/assets/app.js');
  expect([status, text, headers['content-type']]).toEqual([200, 'export {}', 'text/javascript; charset=utf-8']);
});

test('an address that names another server is refused', async () => {
  const host = `Host: 127.0.0.1:${viewer.port}\r\nConnection: close`;
  for (const target of ['http://evil.example/', '*', 'evil.example:443']) {
    const text = await sendRaw(viewer, `GET ${target} HTTP/1.1\r\n${host}\r\n\r\n`);
    expect([target, text.slice(0, 11)]).toEqual([target, 'HTTP/1.1 40']);
  }
});

test('a store is viewed through a connection that cannot write, and viewing changes no byte of it', async () => {
  const { DatabaseSync } = await import('node:sqlite');
  const path = join(folder.path, 'runs.db');
  const before = new DatabaseSync(path, { readOnly: true });
  const count = (): unknown => before.prepare('SELECT count(*) AS n, (SELECT total_changes()) AS c FROM records').get();
  const version = (): unknown => before.prepare('PRAGMA data_version').get();
  const [countBefore, versionBefore] = [count(), version()];
  const reader = openSqliteReader(path);
  expect(Object.keys(reader)).not.toContain('append');
  await page.json('/api/runs?q=make');
  await page.json('/api/runs/0/run');
  await page.json('/api/runs/0/run/records');
  await page.json('/api/runs?q=%27%3B%20DROP%20TABLE%20records%3B--');
  expect([count(), version()]).toEqual([countBefore, versionBefore]);
  before.close();
  await reader.close();
});
