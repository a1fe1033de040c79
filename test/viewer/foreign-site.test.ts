import { createServer } from 'node:http';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { scriptCalls } from '../support/script-records.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { HANGS_AFTER_MS } from '../support/hangs-after.ts';
import { startViewer, type RunningViewer } from '../../src/viewer/server/start-viewer.ts';
import { findChromium, launchChromium } from './chromium.ts';

const chromium = findChromium();

/** The attempts of a page of another origin; returns what succeeded. */
const ATTACK = `
async function attack(viewer) {
  const got = {};
  const attempt = async (name, work) => { try { got[name] = await work(); } catch (error) { got[name] = 'refused'; } };
  await attempt('fetch', async () => (await fetch(viewer + '/api/runs', { credentials: 'include' })).status);
  await attempt('blind', async () => (await fetch(viewer + '/api/runs', { mode: 'no-cors', credentials: 'include' })).type);
  await attempt('write', async () => (await fetch(viewer + '/api/labels', { method: 'POST', credentials: 'include',
    headers: { 'content-type': 'application/json', 'x-coxswain': '1' }, body: '{"id":"stolen","target":"ok"}' })).status);
  await attempt('simple', async () => (await fetch(viewer + '/api/labels', { method: 'POST', mode: 'no-cors', credentials: 'include',
    headers: { 'content-type': 'text/plain' }, body: '{"id":"stolen","target":"ok"}' })).type);
  const loads = (tag, set) => new Promise((resolve) => {
    const element = document.createElement(tag);
    element.onload = () => resolve('loaded');
    element.onerror = () => resolve('refused');
    set(element);
    document.body.append(element);
  });
  await attempt('script', () => loads('script', (element) => { element.src = viewer + '/assets/app.js'; }));
  await attempt('style', () => loads('link', (element) => { element.rel = 'stylesheet'; element.href = viewer + '/assets/app.css'; }));
  await attempt('events', () => new Promise((resolve) => {
    const events = new EventSource(viewer + '/api/events', { withCredentials: true });
    events.onopen = () => resolve('open');
    events.onerror = () => resolve('refused');
  }));
  await attempt('frame', () => new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.src = viewer + '/';
    frame.onload = () => { let seen = 'hidden'; try { seen = frame.contentDocument === null ? 'hidden' : 'seen'; } catch {} resolve(seen); };
    document.body.append(frame);
    setTimeout(() => resolve('nothing'), 3000);
  }));
  return got;
}`;

describe.skipIf(chromium === undefined)('a page of another origin, in a browser that has a session', () => {
  let folder: Awaited<ReturnType<typeof tempFolder>>;
  let viewer: RunningViewer;
  const evil = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><body><script>${ATTACK}</script>`);
  });
  let evilPort = 0;

  beforeAll(async () => {
    folder = await tempFolder();
    const store = sqliteStore(join(folder.path, 'runs.db'));
    await store.append(scriptCalls('secret-run', 3));
    await store.close();
    viewer = await startViewer({
      paths: [join(folder.path, 'runs.db')],
      port: 0,
      labels: join(folder.path, 'labels.csv'),
      pageFolder: folder.path,
    });
    evilPort = await new Promise((resolve) => {
      evil.listen(0, '127.0.0.1', () => {
        const address = evil.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  });

  afterAll(async () => {
    evil.close();
    evil.closeAllConnections();
    await viewer.close();
    await folder.dispose();
  });

  test('learns nothing, changes nothing, frames nothing, and is not navigated back in', async () => {
    const browser = await launchChromium(chromium ?? '');
    try {
      const context = await browser.newContext();
      context.setDefaultTimeout(HANGS_AFTER_MS);
      const origin = `http://127.0.0.1:${viewer.port}`;
      const opened = await context.request.post(`${origin}/session`, {
        headers: { 'x-coxswain': '1' },
        data: { token: new URL(viewer.url).hash.slice('#token='.length) },
      });
      expect(opened.status()).toBe(204);
      const own = await context.request.get(`${origin}/api/runs`);
      expect(await own.text()).toContain('secret-run');
      const page = await context.newPage();
      const statuses: (readonly [string, number])[] = [];
      page.on('response', (response) => {
        if (response.url().startsWith(origin)) statuses.push([response.url().slice(origin.length), response.status()]);
      });
      for (const host of ['127.0.0.1', 'localhost']) {
        await page.goto(`http://${host}:${evilPort}/`);
        const got: unknown = await page.evaluate(`attack(${JSON.stringify(origin)})`);
        expect(got).toEqual({
          fetch: 'refused',
          blind: expect.stringMatching(/^(?:opaque|refused)$/),
          write: 'refused',
          simple: expect.stringMatching(/^(?:opaque|refused)$/),
          script: 'refused',
          style: 'refused',
          events: 'refused',
          frame: expect.stringMatching(/^(?:hidden|nothing)$/),
        });
      }
      // A link from there does not open the viewer either.
      await page.evaluate(`location.href = ${JSON.stringify(`${origin}/api/runs`)}`);
      await page.waitForURL(`${origin}/api/runs`);
      expect(await page.textContent('body')).not.toContain('secret-run');
      expect(statuses.length).toBeGreaterThan(1);
      expect(statuses.filter(([, status]) => status !== 403)).toEqual([]);
      const labels = await context.request.get(`${origin}/api/labels`);
      expect(await labels.text()).not.toContain('stolen');
    } finally {
      await browser.close();
    }
  });
});
