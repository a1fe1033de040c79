import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { findChromium } from './chromium.ts';
import { addRun, addSampleRun, faultsOf, shellTurn, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();

describe.skipIf(chromium === undefined)('the overview (needs a Chromium)', () => {
  let scene: ViewerScene;

  beforeAll(async () => {
    scene = await viewerScene({
      chromium: chromium ?? '',
      fill: async (store) => {
        await addSampleRun(store);
        for (let at = 0; at < 3; at += 1) {
          const turns = Array.from({ length: 12 }, (_, call) => shellTurn(call, 'make', 'make: no rule', true)).flat();
          const end = { kind: 'run_ended', outcome: 'ended', new_messages: [], success: false } as const;
          await addRun(store, `failing-${at}`, [startOf(`failing-${at}`, 'Build it'), ...turns, end]);
        }
        await addRun(store, 'calm', [
          startOf('calm', 'List it'),
          ...shellTurn(0, 'ls', 'a'),
          { kind: 'run_ended', outcome: 'ended', new_messages: [], success: true },
        ]);
      },
    });
  });
  afterAll(() => scene.close());

  test('shows figures of the runs, each linked to its runs', async () => {
    const page = await scene.open('/');
    const figures = page.locator('.figure-cards');
    await expect
      .poll(() => figures.innerText())
      .toMatch(/runs\s+5[\s\S]*succeeded\s+40 %[\s\S]*stuck at some point\s+80 %/);
    await expect
      .poll(() => page.getByRole('region', { name: 'What stuck runs fail with' }).innerText())
      .toContain('no rule');
    await figures.getByRole('link', { name: '80 %' }).click();
    await expect.poll(() => page.locator('.run-row').count()).toBe(4);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('obeys its filters, which are part of the address like the slider', async () => {
    const page = await scene.open('/');
    await page.getByLabel('Task').selectOption('Build it');
    await expect.poll(() => page.locator('.figure-cards').innerText()).toMatch(/runs\s+3/);
    await page.getByLabel('Stop after').fill('3');
    await expect.poll(() => page.url()).toContain('stop=3');
    const sentence = page.getByText(/^Stopped 3 calls later: \d+ calls saved/);
    const text = await sentence.innerText();
    await page.reload();
    await expect.poll(() => sentence.innerText()).toBe(text);
    await page.context().close();
  });

  test('leads in two clicks to the first moment of a loop, and to runs where advice was ignored', async () => {
    const page = await scene.open('/');
    const patterns = page.getByRole('region', { name: 'Which patterns cost outcomes' });
    await patterns.locator('a.moment').first().click();
    await page.locator('.row.is-selected').waitFor();
    await page.goto(new URL('/', page.url()).href);
    await page.getByRole('link', { name: 'Runs where advice was ignored' }).click();
    await expect.poll(() => page.locator('.run-row').allInnerTexts()).toEqual([expect.stringContaining('stuck-run')]);
    await page.context().close();
  });
});
