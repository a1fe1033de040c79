import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { testFolder } from '../support/test-folder.ts';
import { findChromium } from './chromium.ts';
import { addRun, faultsOf, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const SAMPLE = fileURLToPath(new URL('../../samples/stuck-run.jsonl', import.meta.url));
const chromium = findChromium();

describe.skipIf(chromium === undefined)('a file (needs a Chromium)', () => {
  let scene: ViewerScene;

  beforeAll(async () => {
    scene = await viewerScene({ chromium: chromium ?? '', fill: async () => {}, paths: [SAMPLE] });
  });
  afterAll(() => scene.close());

  test('fills the list that was requested before the file was read', async () => {
    const page = await scene.open('/?page=runs');
    await expect.poll(() => page.locator('.run-row').count()).toBe(1);
    await expect.poll(() => page.getByRole('search').innerText()).toContain('1 run');
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('has no button to compare its only run', async () => {
    const page = await scene.open('/?page=runs');
    await page.locator('.run-row').click();
    await page.getByRole('button', { name: 'Share' }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Compare' }).count()).toBe(0);
    await page.context().close();
  });
});

test.skipIf(chromium === undefined)(
  'an unreadable line of a file takes at most 60 pixels of a phone, without its folder (needs a Chromium)',
  async () => {
    const folder = join(testFolder(), 'a-folder-with-a-long-name');
    await mkdir(folder);
    await writeFile(join(folder, 'runs.jsonl'), `${await readFile(SAMPLE, 'utf8')}{"broken\n`);
    const scene = await viewerScene({ chromium: chromium ?? '', fill: async () => {}, paths: [folder] });
    try {
      const page = await scene.open('/?page=runs', { viewport: { width: 390, height: 844 } });
      const banner = page.locator('.banner');
      await expect.poll(() => banner.innerText()).toMatch(/^runs\.jsonl: .*is skipped/);
      expect((await banner.boundingBox())?.height).toBeLessThan(60);
    } finally {
      await scene.close();
    }
  },
);

test.skipIf(chromium === undefined)(
  'a problem of a file that is found before the stream of changes starts is on the page (needs a Chromium)',
  async () => {
    const pipe = join(testFolder(), 'runs.jsonl');
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    const scene = await viewerScene({ chromium: chromium ?? '', fill: async () => {}, paths: [pipe] });
    try {
      const { page, release } = await openWithoutChanges(scene);
      await page.getByText('Reading runs.jsonl…').waitFor();
      await writeFile(pipe, `${await readFile(SAMPLE, 'utf8')}{"broken\n`);
      await page.locator('.run-row').waitFor();
      release();
      await page.locator('.banner').getByText('is skipped').waitFor();
    } finally {
      await scene.close();
    }
  },
);

test.skipIf(chromium === undefined)(
  'a run that appears before the stream of changes starts is on the page (needs a Chromium)',
  async () => {
    const scene = await viewerScene({
      chromium: chromium ?? '',
      fill: (store) => addRun(store, 'first', [startOf('first', 'The first')]),
    });
    try {
      const { page, release } = await openWithoutChanges(scene);
      await page.locator('.run-row').waitFor();
      const other = await scene.open('/?page=runs');
      await addRun(scene.store, 'second', [startOf('second', 'The second')]);
      await scene.store.flush();
      // The server has found it: what the stream tells after its start is announced, and not in the list.
      const isKnown = async (): Promise<number> =>
        (await other.locator('.run-row').count()) + (await other.getByText('1 run appeared since.').count());
      await expect.poll(isKnown).toBe(2);
      release();
      await expect.poll(() => page.locator('.run-row').allInnerTexts()).toHaveLength(2);
    } finally {
      await scene.close();
    }
  },
);

/** The list of runs, whose stream of changes starts at `release`. */
async function openWithoutChanges(scene: ViewerScene): Promise<{ readonly page: Page; readonly release: () => void }> {
  const page = await scene.open('/?run=none');
  const start = Promise.withResolvers<void>();
  await page.route('**/api/events', async (route) => {
    await start.promise;
    await route.continue();
  });
  await page.goto(new URL('/?page=runs', page.url()).href);
  return { page, release: start.resolve };
}

test.skipIf(chromium === undefined)(
  'a link to a run, a call or a pair waits while files are read, and says so (needs a Chromium)',
  async () => {
    const pipe = join(testFolder(), 'runs.jsonl');
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    const scene = await viewerScene({ chromium: chromium ?? '', fill: async () => {}, paths: [pipe] });
    const run = 'sample-stuck-run';
    const links = [
      [`/?source=0&run=${run}`, '.run-title'],
      [`/?source=0&run=${run}&call=3`, '.row.is-selected'],
      [`/?page=compare&a=0/${run}&b=0/${run}`, '.compare-head'],
    ] as const;
    try {
      const pages = await Promise.all(links.map(([address]) => scene.open(address)));
      try {
        for (const page of pages) await page.getByText('still being read').waitFor({ timeout: 8_000 });
      } finally {
        await writeFile(pipe, await readFile(SAMPLE));
      }
      for (const [at, page] of pages.entries()) {
        await page
          .locator(links[at]?.[1] ?? '')
          .first()
          .waitFor();
        expect(faultsOf(page).filter((fault) => !fault.includes('503'))).toEqual([]);
      }
    } finally {
      await scene.close();
    }
  },
);
