import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { tempFolder } from '../support/temp-folder.ts';
import { findChromium } from './chromium.ts';
import { addRun, faultsOf, shellTurn, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();

describe.skipIf(chromium === undefined)('the review (needs a Chromium)', () => {
  let scene: ViewerScene;
  let folder: { readonly path: string; dispose(): Promise<void> };

  beforeAll(async () => {
    folder = await tempFolder();
    scene = await viewerScene({
      chromium: chromium ?? '',
      fill: async (store) => {
        for (let at = 0; at < 8; at += 1) {
          const turns = Array.from({ length: 12 }, (_, call) =>
            shellTurn(call, `make ${call}`, `answer ${call}`),
          ).flat();
          await addRun(store, `run-${at}`, [startOf(`run-${at}`, 'Build it'), ...turns]);
        }
      },
      viewer: { labels: join(folder.path, 'labels.csv') },
    });
  });
  afterAll(async () => {
    await scene.close();
    await folder.dispose();
  });

  test('a note that is typed before the number of its call is known is kept with the label', async () => {
    const page = await scene.open('/?page=review&by=random');
    let letPass = (): void => {};
    const released = new Promise<void>((resolve) => (letPass = resolve));
    await page.route(/\/call\?seq=/, async (route) => {
      await released;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.locator('.row.is-selected').waitFor();
    await page.getByLabel('Note').fill('typed early');
    letPass();
    await page.getByText(/At call \d+ the agent is/).waitFor();
    expect(await page.getByLabel('Note').inputValue()).toBe('typed early');
    await page.context().close();
  });

  test('labels twenty moments with twenty keys, undoes one, adds a note, shows the progress, and lists disagreements', async () => {
    const page = await scene.open('/?page=review&by=random');
    await page.getByRole('button', { name: 'Begin' }).click();
    for (let label = 0; label < 20; label += 1) {
      await page.locator('.row.is-selected').waitFor();
      const at = page.url();
      await page.keyboard.press(label % 4 === 0 ? 'y' : 'n');
      await expect.poll(() => page.url()).not.toBe(at);
    }
    const lines = (await readFile(join(folder.path, 'labels.csv'), 'utf8')).trim().split('\n').slice(1);
    expect(new Set(lines.map((line) => line.split(',')[0])).size).toBe(20);
    expect(lines.filter((line) => line.includes(',stuck'))).toHaveLength(5);
    // Undoing leads back to the moment and restores what it had: no label.
    await page.locator('.row.is-selected').waitFor();
    const after = page.url();
    await page.keyboard.press('z');
    await expect.poll(() => page.url()).not.toBe(after);
    const undone = (await readFile(join(folder.path, 'labels.csv'), 'utf8')).trim().split('\n');
    expect(undone).toHaveLength(20);
    await page.locator('.row.is-selected').waitFor();
    await page.getByLabel('Note').fill('waits for a port');
    await page.keyboard.press('Enter');
    const before = page.url();
    await page.keyboard.press('n');
    await expect.poll(() => page.url()).not.toBe(before);
    expect(await readFile(join(folder.path, 'labels.csv'), 'utf8')).toContain(',ok,,waits for a port');
    await page.getByRole('link', { name: 'Review' }).click();
    await page.getByRole('link', { name: 'Random' }).click();
    await expect
      .poll(() => page.locator('.sheet [role=status]').innerText())
      .toMatch(/20 of \d+ moments labelled[\s\S]*25 %/);
    // No pattern was flagged in these runs, so each moment labelled stuck is a disagreement.
    await page.getByRole('link', { name: 'Disagreements' }).click();
    await expect.poll(() => page.locator('.sheet [role=status]').innerText()).toContain('5 disagreements');
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.locator('.row.is-selected').waitFor();
    const first = page.url();
    await page.keyboard.press('n');
    await expect.poll(() => page.url()).not.toBe(first);
    await page.getByText(/^[34] disagreements left$/).waitFor();
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('draws moments of the runs that match the filters, also for the next one', async () => {
    const page = await scene.open('/?page=review&by=random&q=run-3');
    await expect.poll(() => page.locator('.sheet [role=status]').innerText()).toMatch(/of [123] moments? labelled/);
    await page.getByRole('button', { name: /Begin|Continue/ }).click();
    await page.locator('.row.is-selected').waitFor();
    const before = page.url();
    expect(new URL(before).searchParams.get('run')).toBe('run-3');
    await page.reload();
    await page.locator('.row.is-selected').waitFor();
    await page.keyboard.press('s');
    await expect.poll(() => page.url()).not.toBe(before);
    expect(new URL(page.url()).searchParams.get('run') ?? 'run-3').toBe('run-3');
    await page.context().close();
  });
});
