import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { findChromium } from './chromium.ts';
import { addRun, faultsOf, shellTurn, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();
const WIDE = { viewport: { width: 1440, height: 900 } };
const INTRO = '<pr_description>\nConsider the following PR description:\n';
const TASKS = ['Models nest wrongly', 'Colours fade', 'Dates are off by one'];
const TITLES = TASKS.map((task) => `Consider the following PR description: ${task}`);
const FAILURES = ['cars', 'pets', 'singers'].map(
  (table) => `Table '${table}' does not exist. ${'It was not found. '.repeat(20)}`,
);

describe.skipIf(chromium === undefined)('the pages over many runs (need a Chromium)', () => {
  let scene: ViewerScene;

  beforeAll(async () => {
    scene = await viewerScene({
      chromium: chromium ?? '',
      fill: async (store) => {
        for (const [at, task] of TASKS.entries()) {
          for (const success of [true, false]) {
            const runId = `run-${at}-${success ? 'good' : 'bad'}`;
            const turns = Array.from({ length: success ? 2 : 12 }, (_, call) =>
              shellTurn(call, success ? `step ${call}` : 'query', success ? 'done' : (FAILURES[at] ?? ''), !success),
            );
            const end = { kind: 'run_ended', outcome: 'ended', new_messages: [], success } as const;
            await addRun(store, runId, [startOf(runId, `${INTRO}${task}`), ...turns.flat(), end]);
          }
        }
      },
    });
  });
  afterAll(() => scene.close());

  test('the filters take one row; the task of a group is one more filter, and stays in the address', async () => {
    const page = await scene.open('/', WIDE);
    await page.getByLabel('Pattern', { exact: true }).waitFor();
    const tops = await page
      .locator('.filters > :not(.spring)')
      .evaluateAll((parts) =>
        parts.map((part) => part.getBoundingClientRect()).map(({ top, height }) => top + height / 2),
      );
    expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(10);
    expect(await page.getByLabel('Task').count()).toBe(0);
    await page.getByRole('link', { name: 'By task' }).click();
    await page.getByRole('link', { name: 'Colours fade' }).click();
    await expect.poll(() => page.locator('.run-row').count()).toBe(2);
    await page.reload();
    await expect.poll(() => page.getByLabel('Task').inputValue()).toBe(`${INTRO}Colours fade`);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('tasks with a common beginning are named with the rest, in the list, by task and in a comparison', async () => {
    const page = await scene.open('/?page=runs', WIDE);
    const names = page.locator('.run-name > span:first-child');
    await expect.poll(async () => [...new Set(await names.allInnerTexts())].toSorted()).toEqual(TITLES.toSorted());
    await page.getByRole('link', { name: 'By task' }).click();
    await page
      .getByRole('row', { name: /Colours fade/ })
      .getByRole('link', { name: 'Compare' })
      .click();
    await page.getByRole('heading', { name: `Compare: ${TITLES[1]}` }).waitFor();
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('patterns are listed with the outcomes of their runs, and lead to these runs', async () => {
    const page = await scene.open('/?page=runs', WIDE);
    await page.getByRole('link', { name: 'By pattern' }).click();
    const row = page.locator('.tasks tbody tr').first();
    await expect.poll(() => row.innerText()).toMatch(/3\s+0 %\s+100 %/);
    await row.getByRole('link').first().click();
    await expect.poll(() => page.locator('.run-row').count()).toBe(3);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });
});
