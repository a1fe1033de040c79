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
    await page.getByLabel('Add a filter').selectOption('task');
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

  test('a cluster of stuck runs leads to exactly its runs, and each of them opens at its first warning', async () => {
    const page = await scene.open('/');
    const cluster = page
      .getByRole('region', { name: 'What stuck runs fail with' })
      .getByRole('row', { name: /no rule/ });
    await expect.poll(() => cluster.innerText()).toMatch(/\t3\t\d+\tbash\s+make: no rule/);
    await cluster.getByRole('link', { name: 'make: no rule' }).click();
    await expect.poll(() => page.locator('.run-row').count()).toBe(3);
    expect(await page.getByLabel('First warning').innerText()).toContain('make: no rule, bash (3)');
    await page.locator('.run-row').first().click();
    const [, noticed] = /noticed at call (\d+)/.exec(await page.locator('.story').innerText()) ?? [];
    await expect.poll(() => page.locator('.row.is-selected').innerText()).toMatch(new RegExp(`^Call\\s+${noticed}\\b`));
    await page.keyboard.press('J');
    await page.getByText('run 2 of 3').waitFor();
    await page.locator('.row.is-selected').waitFor();
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('dragging over rows leads to their runs, a click opens one, and a finger that scrolls opens none', async () => {
    const page = await scene.open('/');
    const rows = page.locator('.cohort-rows canvas');
    await rows.scrollIntoViewIfNeeded();
    const box = await rows.boundingBox();
    if (box === null) throw new Error('no rows');
    await rows.dispatchEvent('pointerdown', { pointerType: 'touch', clientX: box.x + 9, clientY: box.y + 3 });
    await rows.dispatchEvent('pointercancel', { pointerType: 'touch' });
    await page.mouse.move(box.x + 9, box.y + 1);
    await page.mouse.down();
    // Five rows share the height.
    await page.mouse.move(box.x + 20, box.y + box.height * 0.5);
    await page.getByText('3 runs', { exact: true }).waitFor();
    await page.mouse.up();
    await expect.poll(() => page.locator('.run-row').count()).toBe(3);
    const address = page.url();
    await page.reload();
    await expect.poll(() => page.locator('.run-row').count()).toBe(3);
    expect(page.url()).toBe(address);
    await page.goBack();
    await page.locator('.cohort-rows canvas').click({ position: { x: 9, y: 2 } });
    await page.locator('.run-title').waitFor();
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('the sentences about a run count from the same warning, and name the error', async () => {
    const page = await scene.open('/?source=0&run=failing-0');
    const story = page.locator('.story');
    await expect.poll(() => story.innerText()).toMatch(/noticed at call \d+[\s\S]*12 of 12 calls: make: no rule/);
    const [, noticed, after] =
      /noticed at call (\d+)[\s\S]*?(\d+) calls.* after the first warning/.exec(await story.innerText()) ?? [];
    expect(Number(noticed) + Number(after)).toBe(12);
    await page.context().close();
  });

  test('a phone shows in the list which runs failed, and the wasted calls', async () => {
    const page = await scene.open('/?page=runs&sort=wasted', { viewport: { width: 390, height: 844 } });
    const row = page.locator('.run-row', { hasText: 'Build it' }).first();
    const [dot, name] = [await row.locator('.dot').boundingBox(), await row.locator('.run-name').boundingBox()];
    expect(dot === null || name === null ? undefined : dot.x + dot.width).toBeLessThanOrEqual(name?.x ?? 0);
    await expect.poll(() => row.locator('.wasted').isVisible()).toBe(true);
    const [errorsEnd, wastedStart] = (await page.evaluate(`(() => {
      const [errors, wasted] = [...document.querySelectorAll('.run-head .number')]
        .filter((head) => head.checkVisibility())
        .map((head) => {
          const text = document.createRange();
          text.selectNodeContents(head.querySelector('button'));
          return text.getBoundingClientRect();
        });
      return [errors.right, wasted.left];
    })()`)) as [number, number];
    // The headings do not touch.
    expect(errorsEnd).toBeLessThan(wastedStart);
    await page.context().close();
  });
});
