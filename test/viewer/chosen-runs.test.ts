import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { importSource } from '../../src/formats/import-source.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { findChromium } from './chromium.ts';
import { addRun, addSampleRun, faultsOf, shellTurn, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();
const SECRET = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;

describe.skipIf(chromium === undefined)('several runs at once (needs a Chromium)', () => {
  let scene: ViewerScene;
  let folder: { readonly path: string; dispose(): Promise<void> };

  beforeAll(async () => {
    folder = await tempFolder();
    scene = await viewerScene({
      chromium: chromium ?? '',
      fill: async (store) => {
        await addSampleRun(store);
        const end = (success: boolean) => ({ kind: 'run_ended', outcome: 'ended', new_messages: [], success }) as const;
        for (const [at, ways] of [['make'], ['make', 'make test'], ['make', `curl -H ${SECRET}`]].entries()) {
          const turns = ways.flatMap((command, call) => shellTurn(call, command, 'ok'));
          await addRun(store, `build-${at}`, [startOf(`build-${at}`, 'Build it'), ...turns, end(at === 1)]);
        }
        const turns = Array.from({ length: 16 }, (_, at) =>
          shellTurn(at, at % 2 === 0 ? 'cat a' : 'cat b', 'the same'),
        );
        await addRun(store, 'to-and-fro', [startOf('to-and-fro', 'Decide'), ...turns.flat(), end(false)]);
      },
      viewer: { labels: join(folder.path, 'labels.csv') },
    });
  });
  afterAll(async () => {
    await scene.close();
    await folder.dispose();
  });

  test('chosen runs are labelled, and shared as one file that reads as the same runs without their secrets', async () => {
    const page = await scene.open('/?page=runs&task=Build+it');
    await page.locator('.run-row').nth(2).waitFor();
    for (const name of ['Choose build-0', 'Choose build-2']) await page.getByLabel(name).check();
    const bar = page.getByRole('group', { name: 'Chosen runs' });
    await bar.getByRole('button', { name: 'fine' }).click();
    await expect.poll(() => bar.getByRole('status').innerText()).toBe('2 runs: fine.');
    await expect.poll(() => page.locator('.run-row', { hasText: 'labelled fine' }).count()).toBe(2);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      bar.getByRole('link', { name: 'Share as one file' }).click(),
    ]);
    const text = await readFile(await download.path(), 'utf8');
    expect(text).not.toContain(SECRET);
    const file = join(folder.path, 'shared.jsonl');
    await writeFile(file, text);
    const runs = new Set<string>();
    for await (const item of importSource(file)) if (item.type === 'run') runs.add(item.run.id);
    expect([...runs].sort()).toEqual(['build-0', 'build-2']);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('all runs of a task are shown side by side from their first difference, successful ones first', async () => {
    const page = await scene.open('/?page=runs');
    await page.getByRole('link', { name: 'Group by task' }).click();
    const row = page.getByRole('row', { name: /^Build it/ });
    await expect.poll(() => row.innerText()).toMatch(/3\s+33 %/);
    await row.getByRole('link', { name: 'Side by side' }).click();
    const table = page.getByRole('region', { name: 'Calls of all runs' });
    await table.waitFor();
    await page.getByText('The first call is equal in all runs.').waitFor();
    await expect.poll(() => table.locator('thead th').nth(1).innerText()).toContain('build-1');
    await expect.poll(() => table.locator('tr.first').innerText()).toContain('make test');
    const steps = page.getByRole('region', { name: 'What the successful runs did' }).getByRole('listitem');
    await expect
      .poll(() => steps.first().innerText())
      .toMatch(/run\s+make test\s+1 of 1 that succeeded, 0 of 2 that failed/);
    await table.locator('tr.first a').first().click();
    await expect.poll(() => page.locator('.row.is-selected').innerText()).toContain('make test');
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('a named view is saved, found by a few letters after a reload, and deleted', async () => {
    const page = await scene.open('/?page=runs&task=Build+it');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.goto(new URL('/', page.url()).href);
    await page.getByRole('navigation').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or jump' }).fill('task build');
    await expect
      .poll(() => page.getByRole('listbox').getByRole('option').first().innerText())
      .toContain('task Build it');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.run-row').count()).toBe(3);
    await page.getByRole('button', { name: 'Delete view' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Save view' }).count()).toBe(1);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('the palette jumps to a run by any word in it', async () => {
    const page = await scene.open('/');
    await page.getByRole('button', { name: /Search or jump/ }).click();
    await page.getByRole('combobox', { name: 'Search or jump' }).fill('the same');
    await page
      .getByRole('listbox')
      .getByRole('option', { name: /Decide/ })
      .click();
    await expect.poll(() => page.url()).toContain('run=to-and-fro');
    await page.context().close();
  });
});
