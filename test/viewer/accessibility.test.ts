import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { findChromium } from './chromium.ts';
import { seriousIssues } from './serious-issues.ts';
import { addRun, addSampleRun, shellTurn, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();

/** Elements beyond the right edge of the window that cannot be scrolled to. */
const WIDER = `[...document.querySelectorAll('.page *')].filter((e) => {
  if (e.getBoundingClientRect().right <= innerWidth + 1 || e.closest('.visually-hidden, canvas')) return false;
  for (let up = e.parentElement; up !== null; up = up.parentElement)
    if (getComputedStyle(up).overflowX !== 'visible' && up.getBoundingClientRect().right <= innerWidth + 1) return false;
  return true;
}).slice(0, 5).map((e) => e.tagName + '.' + e.className)`;

const SIDEWAYS = 'document.documentElement.scrollWidth - innerWidth';

/** The rules of axe whose result depends on the size of the window or on the theme. */
const OF_A_WINDOW = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size'];

describe.skipIf(chromium === undefined)('every page, looked at by axe (needs a Chromium)', () => {
  let scene: ViewerScene;

  beforeAll(async () => {
    scene = await viewerScene({
      chromium: chromium ?? '',
      fill: async (store) => {
        await addSampleRun(store);
        await addRun(store, 'parent', [startOf('parent', 'Look after another'), ...shellTurn(0, 'ls', 'a')]);
        await addRun(store, 'child', [startOf('child', 'The other'), ...shellTurn(0, 'ls', 'b')], {
          parentRunId: 'parent',
        });
        const same = Array.from({ length: 4 }, (_, at) =>
          shellTurn(at, 'make', '\u001b[31mno\u001b[0m rule', true),
        ).flat();
        const markdown =
          '# Plan\n\n1. `make` **it**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nconst a = "b"; // c\n```\n\n> so';
        await addRun(store, 'words', [
          startOf('words', 'Say it'),
          { kind: 'message_appended', message: { role: 'assistant', content: markdown } },
          ...same,
        ]);
        await addRun(store, 'live', [startOf('live', 'At work'), ...shellTurn(0, 'ls', 'b')], {
          // At work as long as the slowest machine takes for all of this.
          startMs: Date.now() + 3_600_000,
        });
      },
    });
  });
  afterAll(() => scene.close());

  const pages: readonly (readonly [string, string, string])[] = [
    ['the list', '/?page=runs', '.run-row .tag'],
    ['an empty list', '/?q=nosuchword', '.notice'],
    ['a run', '/?source=0&run=stuck-run&at=45', '.row.is-selected'],
    ['a run at work', '/?source=0&run=live', '.live-button'],
    ['a run with children', '/?source=0&run=parent', '.row .call-head'],
    ['a run that is not there', '/?source=0&run=none', '.notice'],
    ['a comparison', '/?page=compare&a=0/stuck-run&b=0/child', '.pair.line'],
    ['the choice of a comparison', '/?compare=0/stuck-run&task=Say%20it', '.run-row .tag'],
    ['a run with the bar for labels', '/?source=0&run=stuck-run&at=45&label=', '.label-bar'],
    ['the tasks', '/?page=runs&group=task', '.tasks tbody tr'],
    ['Markdown, colours, code and folded calls', '/?source=0&run=words', '.fold-line'],
    ['a call of a run', '/?source=0&run=stuck-run&call=13', '.row.is-selected'],
  ];
  const windows = [
    ['1440×900', 1440, 900],
    ['1024×900', 1024, 900],
    ['960×600', 960, 600],
    ['200 % of 1440×900', 720, 450],
    ['390×844', 390, 844],
  ] as const;
  test.each(pages)('%s has no serious issue and fits, in every window, light and dark', async (_name, path, ready) => {
    const page = await scene.open(path);
    await page.locator(ready).first().waitFor();
    expect(await seriousIssues(page)).toEqual([]);
    for (const [name, width, height] of windows) {
      await page.setViewportSize({ width, height });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect([name, colorScheme, await seriousIssues(page, OF_A_WINDOW)]).toEqual([name, colorScheme, []]);
      }
      expect([name, await page.evaluate(SIDEWAYS), await page.evaluate(WIDER)]).toEqual([name, 0, []]);
    }
    await page.context().close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`a run at work that is not followed has no serious issue, ${colorScheme}`, async () => {
      const page = await scene.open('/?source=0&run=live', { colorScheme });
      await page.getByRole('button', { name: /Following/ }).waitFor();
      await page.keyboard.press('f');
      await page.getByRole('button', { name: /Paused/ }).waitFor();
      expect(await seriousIssues(page)).toEqual([]);
      await page.context().close();
    });

    test(`the help has no serious issue, ${colorScheme}`, async () => {
      const page = await scene.open('/?page=runs', { colorScheme });
      await page.locator('.run-row').first().waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
      expect(await seriousIssues(page)).toEqual([]);
      await page.context().close();
    });
  }

  test('the lines of a row do not overlap those of the next one', async () => {
    for (const width of [1440, 1024, 390]) {
      const page = await scene.open('/?page=runs', { viewport: { width, height: 900 } });
      await page.locator('.run-row .tags .tag').first().waitFor({ state: 'attached' });
      const outside = `[...document.querySelectorAll('.run-row')].flatMap((row) => [...row.querySelectorAll('*')].filter((e) => {
        const [outer, inner] = [row, e].map((one) => one.getBoundingClientRect());
        return inner.height > 0 && !e.matches('.visually-hidden, input') && (inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1);
      })).map((e) => e.className)`;
      expect(await page.evaluate(outside)).toEqual([]);
      await page.context().close();
    }
  });

  test.each([
    ['960×600', { width: 960, height: 600 }, 1],
    ['1440×900 at 200 %', { width: 720, height: 450 }, 2],
    ['390 pixels', { width: 390, height: 844 }, 2],
  ] as const)(
    'the conversation of a run is read by scrolling the page, %s',
    async (_name, viewport, deviceScaleFactor) => {
      const page = await scene.open('/?source=0&run=stuck-run', { viewport, deviceScaleFactor });
      await page.locator('.row .call-head').first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(await page.evaluate(WIDER)).toEqual([]);
      expect(await page.evaluate("document.querySelector('.talk-rows').getBoundingClientRect().top")).toBeLessThan(850);
      await page.keyboard.press('e');
      await page.locator('.row.is-selected').waitFor();
      const box = await page.locator('.row.is-selected .call-head').boundingBox();
      expect(box !== null && box.y >= 28 && box.y + 24 <= viewport.height).toBe(true);
      await page.context().close();
    },
  );

  test.each([720, 390])(
    'above the conversation, %i pixels wide, the parts of the outline open in the page',
    async (width) => {
      const page = await scene.open('/?source=0&run=stuck-run', { viewport: { width, height: 450 } });
      const outline = page.getByRole('navigation', { name: 'Outline' });
      await outline.getByText('Patterns').waitFor();
      expect(await outline.locator('details[open]').count()).toBe(0);
      await outline.getByText('Patterns').click();
      await outline.locator('details[open]').getByRole('button').first().waitFor();
      const isCut =
        '[document.querySelector(".outline"), ...document.querySelectorAll(".outline *")].some((e) => getComputedStyle(e).overflowY === "auto" && e.scrollHeight > e.clientHeight)';
      expect(await page.evaluate(isCut)).toBe(false);
      await page.context().close();
    },
  );

  test.each(['light', 'dark'] as const)('the side panel of a run has no serious issue, %s', async (colorScheme) => {
    for (const width of [1440, 720]) {
      const page = await scene.open('/?source=0&run=stuck-run', { colorScheme, viewport: { width, height: 900 } });
      const outline = page.getByRole('navigation', { name: 'Outline' });
      if (width === 720) await outline.getByText('Patterns').click();
      await outline.locator('details', { hasText: 'Patterns' }).getByRole('button').first().click();
      await page.locator('.side .card').nth(1).waitFor();
      expect(await seriousIssues(page)).toEqual([]);
      expect(await page.evaluate(WIDER)).toEqual([]);
      await page.context().close();
    }
  });

  test('the list and a run fit into 1366x768 at 125 % without scrolling sideways', async () => {
    for (const path of ['/?page=runs', '/?source=0&run=stuck-run']) {
      const page = await scene.open(path, { viewport: { width: 1093, height: 614 }, deviceScaleFactor: 1.25 });
      await page.locator('.run-row, .row').first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(
        await page.evaluate(
          `[...document.querySelectorAll('.run-scroll')].every((e) => e.scrollWidth <= e.clientWidth)`,
        ),
      ).toBe(true);
      await page.context().close();
    }
  });
});
