import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { findChromium } from './chromium.ts';
import { faultsOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

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
});
