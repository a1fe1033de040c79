import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, onTestFinished, test } from 'vitest';

import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { HANGS_AFTER_MS } from '../support/hangs-after.ts';
import { writeRedirectFile } from '../../src/cli/commands/view/view-command.ts';
import { startViewer } from '../../src/viewer/server/start-viewer.ts';
import { findChromium, launchChromium } from './chromium.ts';

const chromium = findChromium();

test.skipIf(chromium === undefined)(
  'the file that a browser is started with opens the page, which gets a session (needs a Chromium)',
  async () => {
    const folder = await tempFolder();
    onTestFinished(() => folder.dispose());
    await sqliteStore(join(folder.path, 'runs.db')).close();
    const site = join(folder.path, 'site');
    await mkdir(join(site, 'assets'), { recursive: true });
    await writeFile(join(site, 'index.html'), '<!doctype html><script type="module" src="/assets/app.js"></script>');
    // The page's part in it: the token is changed for a session.
    const script = `const token = location.hash.slice('#token='.length);
      const answer = await fetch('/session', { method: 'POST', body: JSON.stringify({ token }),
        headers: { 'content-type': 'application/json', 'x-coxswain': '1' } });
      document.title = 'session ' + answer.status;`;
    await writeFile(join(site, 'assets', 'app.js'), script);
    const viewer = await startViewer({ paths: [join(folder.path, 'runs.db')], port: 0, pageFolder: site });
    onTestFinished(() => viewer.close());
    const redirect = await writeRedirectFile(viewer.urlOnce());
    onTestFinished(() => redirect.dispose());
    const browser = await launchChromium(chromium ?? '');
    onTestFinished(() => browser.close());
    const opened = await browser.newPage();
    opened.setDefaultTimeout(HANGS_AFTER_MS);
    await opened.goto(pathToFileURL(redirect.path).href);
    await expect.poll(() => opened.title()).toBe('session 204');
  },
);
