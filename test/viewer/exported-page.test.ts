import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runPage } from '../../src/formats/export/run-page.ts';
import { memoryStore } from '../../src/core/store/memory-store.ts';
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

describe.skipIf(found === undefined)('the HTML file of a run, from disk (needs a Chromium)', () => {
  let folder: Awaited<ReturnType<typeof tempFolder>>;
  let browser: Browser;

  beforeAll(async () => {
    folder = await tempFolder();
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
      let page = '';
      for await (const part of runPage({ run, records: () => store.readRun(name) })) page += part;
      await writeFile(join(folder.path, `${name}.html`), page);
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
    await page.goto(pathToFileURL(join(folder.path, `${name}.html`)).href);
    return page;
  }

  test('works without scripts: advice is in its place, with its delivery and what followed', async () => {
    const page = await open('stuck-run', { javaScriptEnabled: false });
    const advice = page.locator('article.pattern + article.advice').first();
    expect(await advice.innerText()).toMatch(/feedback of \w+[\s\S]*reached the agent[\s\S]*next call: /);
    const before = advice.locator('xpath=preceding-sibling::article[1]');
    expect(await before.innerText()).toMatch(/pattern: .* \(likely\)/);
    await page
      .getByRole('link', { name: /^call \d+$/ })
      .first()
      .click();
    expect(await page.locator('article:target h3').innerText()).toMatch(/call \d+ /);
  });

  test('begins with the task and the four sentences', async () => {
    const page = await open('stuck-run');
    expect(await page.locator('h1').innerText()).toMatch(/^check.mjs fails/);
    const story = page.locator('h1 + dl');
    expect(await story.locator('dt').allInnerTexts()).toEqual(['Got stuck', 'Cost of it', 'Advice', 'Did it help?']);
    expect(await story.innerText()).toMatch(/From call 4 .* noticed at call 12/);
  });

  test('hostile text stays text and makes no requests', async () => {
    const page = await open('hostile');
    expect(await page.title()).toMatch(/^<script>document.title = 'owned'/);
    expect(await page.locator('script, img, svg, iframe, link, form, base').count()).toBe(0);
    expect(await page.locator('article pre').first().textContent()).toContain('<script>');
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
