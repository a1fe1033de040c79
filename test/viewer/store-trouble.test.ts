import { rename } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { findChromium } from './chromium.ts';
import { addSampleRun, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();

describe.skipIf(chromium === undefined)('a store in trouble while it is looked at (needs a Chromium)', () => {
  let scene: ViewerScene;

  beforeAll(async () => {
    scene = await viewerScene({ chromium: chromium ?? '', fill: (store) => addSampleRun(store) });
  });
  afterAll(() => scene.close());

  test.each([
    ['the list', '/?page=runs', '.run-row'],
    ['a run', '/?source=0&run=stuck-run', '.row .call-head'],
  ])('that is gone is told in %s, which goes on when it is back', async (_name, path, ready) => {
    const page = await scene.open(path);
    await page.locator(ready).first().waitFor();
    await rename(scene.file, `${scene.file}.away`);
    await page.locator('[role=alert]', { hasText: 'runs.db' }).first().waitFor();
    await rename(`${scene.file}.away`, scene.file);
    await expect.poll(() => page.locator('[role=alert]').count()).toBe(0);
    await page.locator(ready).first().waitFor();
    await page.context().close();
  });

  test('whose viewer has ended says so, with what to do', async () => {
    const page = await scene.open('/?source=0&run=stuck-run');
    const list = await scene.open('/?page=runs');
    await page.locator('.row .call-head').first().waitFor();
    await list.locator('.run-row').first().waitFor();
    await scene.viewer.close();
    await expect
      .poll(() => page.locator('[role=alert]').allInnerTexts())
      .toEqual([expect.stringContaining('The viewer does not respond')]);
    await expect
      .poll(() => list.locator('[role=alert]').allInnerTexts())
      .toEqual([expect.stringContaining('The viewer does not respond')]);
    await list.reload().catch(() => {});
    await page.context().close();
    await list.context().close();
  });
});

test.skipIf(chromium === undefined)(
  'a damaged record is stated calmly, until it is dismissed (needs a Chromium)',
  async () => {
    const scene = await viewerScene({ chromium: chromium ?? '', fill: (store) => addSampleRun(store) });
    const damage = new DatabaseSync(scene.file);
    damage.exec(`UPDATE records SET json = '{"broken' WHERE seq = 20`);
    damage.close();
    const page = await scene.open('/?source=0&run=stuck-run');
    const banner = page.locator('.banner[role=status]', { hasText: 'up to its first damaged record (20 of ' });
    await expect.poll(() => banner.innerText()).toContain('coxswain recover saves the rest');
    await page.locator('.row .call-head').first().waitFor();
    expect(await page.locator('[role=alert]').count()).toBe(0);
    await banner.getByRole('button', { name: 'Dismiss' }).click();
    await expect.poll(() => banner.count()).toBe(0);
    await page.reload();
    await page.locator('.row .call-head').first().waitFor();
    expect(await banner.count()).toBe(0);
    await scene.close();
  },
);
