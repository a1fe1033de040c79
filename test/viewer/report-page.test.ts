import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createCoxswain } from '../../src/core/run/coxswain.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { BIN } from '../run-cli.ts';
import { HANGS_AFTER_MS } from '../support/hangs-after.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { findChromium, launchChromium } from './chromium.ts';

const found = findChromium();
const OUTSIDE = 'http://127.0.0.1:9/stolen';
const HOSTILE = [
  `<script>document.title = 'owned'</script>`,
  `"><img src="${OUTSIDE}" onerror="document.title='owned'">`,
  `</td></table></main><svg onload="document.title='owned'"><use href="${OUTSIDE}#a"/></svg>`,
  `<style>@import url(${OUTSIDE})</style><link rel=stylesheet href=${OUTSIDE}><base href=${OUTSIDE}>`,
  `<meta http-equiv=refresh content="0;url=${OUTSIDE}"><iframe srcdoc="<script>top.document.title='owned'</script>"></iframe>`,
  `[x](javascript:document.title='owned') ![p](${OUTSIDE}) \u202ereversed \u0007`,
];

describe.skipIf(found === undefined)('the HTML file of a report, from disk (needs a Chromium)', () => {
  let folder: Awaited<ReturnType<typeof tempFolder>>;
  let browser: Browser;

  beforeAll(async () => {
    folder = await tempFolder();
    const data = join(folder.path, 'data');
    mkdirSync(data);
    const store = sqliteStore(join(data, 'runs.db'));
    const cox = createCoxswain({ store });
    for (const [index, text] of HOSTILE.entries()) {
      const run = cox.startRun({ runId: `run-${index}`, task: text, agentName: text });
      for (let call = 0; call < 6; call += 1) {
        const ids = { toolCallId: `c${call}`, toolName: text };
        run.emit({ type: 'tool_execution_start', ...ids, args: { command: text } });
        run.emit({ type: 'tool_execution_end', ...ids, result: text, isError: true });
        for (const advice of run.advise('post_tool_result')) advice.delivered(text);
      }
      if (index % 2 === 0) run.emit({ type: 'agent_end', outcome: text });
    }
    await cox.close();
    const page = join(folder.path, 'report.html');
    const args = [BIN, 'report', join(data, 'runs.db'), '--all', '--html', page];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder.path, encoding: 'utf8' });
    writeFileSync(join(folder.path, 'stderr'), stderr);
    if (status !== 0) throw new Error(stderr);
    browser = await launchChromium(found ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    await folder?.dispose();
  });

  test('hostile tasks, names, arguments and endings stay text, run nothing and request nothing', async () => {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(HANGS_AFTER_MS);
    const requests: string[] = [];
    const faults: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('dialog', (dialog) => faults.push(dialog.message()));
    page.on('pageerror', (error) => faults.push(error.message));
    const address = pathToFileURL(join(folder.path, 'report.html')).href;
    await page.goto(address, { waitUntil: 'networkidle' });
    expect(requests).toEqual([address]);
    expect(faults).toEqual([]);
    expect(await page.title()).not.toBe('owned');
    expect(await page.locator('script, img, svg, iframe, link, form, base, object, embed').count()).toBe(0);
    expect(await page.locator('meta[http-equiv]').count()).toBe(1);
    const links = await page.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    expect(links.filter((href) => !href.startsWith('#'))).toEqual([]);
    const text = await page.locator('body').innerText();
    expect(text).toContain('<script>');
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u0007]/);
  });
});
