import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { findChromium } from './chromium.ts';
import { addRun, faultsOf, shellTurn, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();
const RUNS = 24;

describe.skipIf(chromium === undefined)('labels (needs a Chromium)', () => {
  let scene: ViewerScene;

  beforeAll(async () => {
    scene = await viewerScene({
      chromium: chromium ?? '',
      fill: async (store) => {
        for (let at = 0; at < RUNS; at += 1) {
          const turns = Array.from({ length: 8 }, (_, call) => shellTurn(call, 'make', 'make: no rule', true)).flat();
          await addRun(store, `stuck-${at}`, [startOf(`stuck-${at}`, `Build ${at}`), ...turns]);
        }
        await addRun(store, 'calm', [startOf('calm', 'List'), ...shellTurn(0, 'ls', 'a')]);
      },
    });
  });
  afterAll(() => scene.close());

  const fileLines = async (): Promise<readonly string[]> =>
    (await readFile(join(scene.folder, 'labels.csv'), 'utf8')).trim().split('\n').slice(1);

  test('the filter for flags without a label opens them one after another: twenty labels take twenty keys, and the file is linked', async () => {
    const page = await scene.open('/');
    await page.getByLabel('Status').selectOption('unlabelled');
    await expect.poll(() => page.getByRole('status').first().innerText()).toContain(`${RUNS} runs`);
    await page.locator('.run-row').first().click();
    for (let label = 0; label < 20; label += 1) {
      await page.locator('.row.is-selected').waitFor();
      await expect.poll(() => page.getByRole('group', { name: 'Label' }).innerText()).toContain('At call');
      const at = page.url();
      await page.keyboard.press(label % 4 === 0 ? 'y' : 'n');
      await expect.poll(() => page.url()).not.toBe(at);
    }
    await page.locator('.row.is-selected').waitFor();
    const lines = await fileLines();
    expect(new Set(lines.map((line) => line.split(',')[0])).size).toBe(20);
    expect(lines.filter((line) => line.includes(',stuck'))).toHaveLength(5);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'labels.csv' }).click(),
    ]);
    expect(await readFile((await download.path()) ?? '', 'utf8')).toBe(
      await readFile(join(scene.folder, 'labels.csv'), 'utf8'),
    );
    // Undoing leads back to the flag and removes its label.
    const after = page.url();
    await page.keyboard.press('z');
    await expect.poll(() => page.url()).not.toBe(after);
    await expect.poll(fileLines).toHaveLength(19);
    await page.locator('.row.is-selected').waitFor();
    await page.getByLabel('Note').fill('waits for a port');
    await page.keyboard.press('Enter');
    const before = page.url();
    await page.keyboard.press('n');
    await expect.poll(() => page.url()).not.toBe(before);
    await expect.poll(async () => (await fileLines()).join('\n')).toContain(',ok,,waits for a port');
    await page.reload();
    await page.locator('.row.is-selected').waitFor();
    await page.keyboard.press('s');
    await expect.poll(fileLines).toHaveLength(21);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('after the last flag the list opens, in which no flag without a label is left', async () => {
    const page = await scene.open('/?status=unlabelled&q=stuck');
    await page.locator('.run-row').first().click();
    const end = page.getByText('No run matches');
    for (;;) {
      await page.locator('.row.is-selected').or(end).first().waitFor();
      if ((await end.count()) > 0) break;
      const at = page.url();
      await page.keyboard.press('n');
      await expect.poll(() => page.url()).not.toBe(at);
    }
    expect((await fileLines()).length).toBeGreaterThan(21);
    await page.context().close();
  });
});
