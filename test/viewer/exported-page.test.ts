import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { sharedFile } from '../../src/viewer/server/shared-run.ts';
import { memoryStore } from '../../src/core/store/memory-store.ts';
import { buildPage } from '../../scripts/build-page.ts';
import { everyPayload } from '../support/every-payload.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { HANGS_AFTER_MS } from '../support/hangs-after.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { seriousIssues } from './serious-issues.ts';
import { addRun, addSampleRun } from './viewer-scene.ts';

const found = findChromium();
const OUTSIDE = 'http://127.0.0.1:9/stolen';
const HOSTILE = [
  `<script>document.title = 'owned'</script><img src="${OUTSIDE}" onerror="document.title='owned'">`,
  `"><svg onload="document.title='owned'"></pre></details></article><style>@import url(${OUTSIDE})</style>`,
  `<meta http-equiv=refresh content="0;url=${OUTSIDE}"> \u202ereordered \u001b[31mred \ud800 \u0000`,
  'word'.repeat(400),
].join('\n');

describe.skipIf(found === undefined)('a run that was shared as a file, from disk (needs a Chromium)', () => {
  let folder: Awaited<ReturnType<typeof tempFolder>>;
  let browser: Browser;

  beforeAll(async () => {
    folder = await tempFolder();
    const pageFolder = join(folder.path, 'page');
    await buildPage(pageFolder);
    const store = memoryStore();
    await addSampleRun(store);
    await addRun(
      store,
      'hostile',
      everyPayload(HOSTILE).filter(({ kind }) => kind !== 'gap'),
    );
    for (const name of ['stuck-run', 'hostile']) {
      const run = await store.findRun(name);
      if (run === undefined) throw new Error(`${name} is not stored`);
      const path = join(folder.path, `${name}.html`);
      await writeFile(path, sharedFile({ run, records: () => store.readRun(name), below: [] }, { folder: pageFolder }));
    }
    browser = await launchChromium(found ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    await folder?.dispose();
  });

  async function open(name: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage();
    page.setDefaultTimeout(HANGS_AFTER_MS);
    page.on('request', (request) => expect(request.url()).toMatch(/^file:/));
    page.on('console', (message) => expect(`${message.type()} ${message.text()}`).not.toMatch(/^error/));
    page.on('pageerror', (error) => expect(error.message).toBe('no error'));
    await page.goto(pathToFileURL(join(folder.path, `${name}.html`)).href);
    await page.locator('.run').waitFor();
    return page;
  }

  test('looks like the page of the viewer: the last answer, the four sentences, the outline, the conversation', async () => {
    const page = await open('stuck-run');
    expect(await page.locator('h1').innerText()).toMatch(/^check.mjs fails/);
    expect(await page.locator('.story dt').allInnerTexts()).toEqual([
      'Got stuck',
      'Cost of it',
      'Advice',
      'Did it help?',
    ]);
    expect(await page.getByRole('region', { name: 'Last answer' }).innerText()).not.toBe('');
    await page.locator('.outline').getByText('the same failure after each edit').waitFor();
    await page.getByRole('feed', { name: 'Conversation' }).locator('.row').first().waitFor();
  });

  test('a click on advice shows it beside its place, and the address of the file leads there again', async () => {
    const page = await open('stuck-run');
    const advice = page.locator('.outline details', { hasText: 'Advice' }).getByRole('button').first();
    await advice.click();
    await page.locator('.side .card').first().waitFor();
    const selected = await page.locator('.row.is-selected').innerText();
    expect(selected).toMatch(/Feedback by .*delivered/);
    await page.reload();
    expect(await page.locator('.row.is-selected').innerText()).toBe(selected);
    expect(await page.locator('.side').count()).toBe(0);
  });

  test('finds words, and offers nothing that needs the viewer', async () => {
    const page = await open('stuck-run');
    await page.getByLabel('Find in this run').fill('check.mjs');
    // The first match is the record of the start.
    for (const key of ['Enter', 'Enter']) await page.keyboard.press(key);
    await page.locator('.row.is-selected', { hasText: 'check.mjs' }).waitFor();
    for (const name of ['Share', 'Compare', 'State at a call…', 'useful'])
      expect(await page.getByText(name, { exact: true }).count()).toBe(0);
    const links = await page.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    expect(links).toEqual([]);
  });

  test('hostile text stays text and makes no requests', async () => {
    const page = await open('hostile');
    expect(await page.title()).not.toBe('owned');
    expect(await page.locator('#app :is(script, img, iframe, link, form, base, style)').count()).toBe(0);
    expect(await page.locator('script').count()).toBe(2);
    expect(await page.locator('#app').textContent()).toContain('<script>');
  });

  test.each(['stuck-run', 'hostile'])('%s has no serious issue, light and dark, and fits 390 pixels', async (name) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open(name, { colorScheme, viewport: { width: 390, height: 844 } });
      await page.evaluate('document.querySelectorAll("details").forEach((e) => (e.open = true))');
      expect(await seriousIssues(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
      await page.context().close();
    }
  });
});
