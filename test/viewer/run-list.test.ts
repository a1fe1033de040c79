import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Lesson } from '../../src/core/facts/lessons.ts';
import { findChromium } from './chromium.ts';
import { addRun, addSampleRun, faultsOf, shellTurn, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';
import { HANGS_AFTER_MS } from '../support/hangs-after.ts';

const chromium = findChromium();

const NO_LESSON: Lesson = {
  project: '',
  key: { kind: 'name', text: 'rtk' },
  tool: 'Bash',
  name: '',
  shown: '',
  cause: '',
  causes: 1,
  times: 5,
  sessions: 5,
  ranIn: 5,
  calls: 5,
  ms: 0,
  tokens: 0,
  costUsd: 0,
  hidden: 0,
  firstAtMs: 0,
  lastAtMs: 0,
  stillHappens: true,
  recovered: false,
  examples: [],
};

describe.skipIf(chromium === undefined)('the list of runs (needs a Chromium)', () => {
  let scene: ViewerScene;
  let lessons: readonly Lesson[] = [];

  beforeAll(async () => {
    scene = await viewerScene({
      chromium: chromium ?? '',
      viewer: { failing: async () => lessons },
      fill: async (store) => {
        await addSampleRun(store);
        await addRun(store, 'parent', [startOf('parent', 'Look after two others'), ...shellTurn(0, 'ls', 'a')]);
        await addRun(store, 'child', [startOf('child', 'One of the two'), ...shellTurn(0, 'make', 'zebra')], {
          parentRunId: 'parent',
        });
        await addRun(store, 'failing', [
          startOf('failing', 'Nothing works'),
          ...shellTurn(0, 'make', 'no rule', true),
          { kind: 'run_ended', outcome: 'error', new_messages: [], success: false },
        ]);
      },
    });
  });
  afterAll(() => scene.close());

  test('shows every run with its figures, its patterns, and child runs below their parents', async () => {
    const page = await scene.open('/?page=runs');
    await page.locator('.run-row').nth(3).waitFor();
    const stuck = page.locator('.run-row', { hasText: 'stuck-run' });
    await stuck.locator('.tag.stuck').first().waitFor();
    await expect.poll(() => stuck.innerText()).toContain('the same failure after each edit');
    await expect.poll(() => stuck.innerText()).toMatch(/\d+ advice/);
    const order = await page.locator('.run-row').evaluateAll((rows) => rows.map((row) => row.textContent ?? ''));
    const parent = order.findIndex((text) => text.includes('Look after two others'));
    expect(order[parent + 1]).toContain('One of the two');
    await page.getByRole('button', { name: 'Hide child runs' }).click();
    await expect.poll(() => page.locator('.run-row', { hasText: 'One of the two' }).count()).toBe(0);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('says what keeps failing, what it cost and what worked, with a call to open', async () => {
    const name = '<b>rtk</b> bun';
    const lesson = { ...NO_LESSON, name, cause: 'unknown command', sessions: 5, calls: 37, costUsd: 0.4 };
    const examples = [{ runId: 'failing', source: 'x', number: 1 }];
    lessons = [
      { ...lesson, worked: { shown: 'bun run test', sessions: 4, similar: 0 }, examples },
      { ...lesson, name: 'mended', stillHappens: false },
    ];
    const page = await scene.open('/?page=runs');
    const block = page.getByRole('region', { name: 'What keeps failing' });
    await expect.poll(() => block.innerText()).toContain(`${name}: unknown command`);
    expect(await block.innerText()).toContain('5 sessions, cost 37 calls, $0.40; then worked: bun run test');
    expect(await block.innerText()).not.toContain('mended');
    await block.getByRole('link', { name }).click();
    await expect.poll(() => page.url()).toContain('run=failing&call=1');
    await page.locator('.row.is-selected').waitFor();
    expect(faultsOf(page)).toEqual([]);
    lessons = [];
    await page.context().close();
  });

  test('keeps its filters in the address, also after a reload', async () => {
    const page = await scene.open('/?page=runs');
    await page.getByLabel('Search everything in the runs').fill('zebra');
    await expect.poll(() => page.url()).toContain('q=zebra');
    await expect.poll(() => page.locator('.run-row').count()).toBe(1);
    await page.getByLabel('Status').selectOption('open');
    await expect.poll(() => page.url()).toContain('status=open');
    await page.reload();
    await expect
      .poll(() => page.locator('.run-row').allInnerTexts())
      .toEqual([expect.stringContaining('One of the two')]);
    expect(await page.getByLabel('Search everything in the runs').inputValue()).toBe('zebra');
    await page.goBack();
    await expect.poll(() => page.url()).not.toContain('status=open');
    await page.context().close();
  });

  test('a hit opens at its place with its words, and Back restores the list', async () => {
    const page = await scene.open('/?q=zebra');
    const row = page.locator('.run-row', { hasText: 'One of the two' });
    await expect.poll(() => row.innerText()).toContain('zebra');
    await row.click();
    await expect.poll(() => page.evaluate("[...CSS.highlights.get('found') ?? []].map(String)")).toContain('zebra');
    expect(await page.getByLabel('Find in this run').inputValue()).toBe('zebra');
    await page.goto(new URL('/?sort=calls', page.url()).href);
    await page.locator('.run-row').nth(3).waitFor();
    await page.setViewportSize({ width: 1366, height: 260 });
    await page.evaluate("document.querySelector('.run-scroll').scrollTop = 52");
    await page.locator('.run-row', { hasText: 'Look after two others' }).dispatchEvent('click');
    await page.locator('.run-strip').waitFor();
    await page.goBack();
    await page.locator('.run-row').first().waitFor();
    await expect.poll(() => page.evaluate("document.querySelector('.run-scroll').scrollTop")).toBe(52);
    await page.context().close();
  });

  test('a link opened without a session works once there is one', async () => {
    const context = await scene.browser.newContext();
    context.setDefaultTimeout(HANGS_AFTER_MS);
    const page = await context.newPage();
    const { origin, hash } = new URL(scene.viewer.url);
    await page.goto(`${origin}/?source=0&run=child&at=3`);
    await page.getByText('Open the complete address that').waitFor();
    await page.goto('about:blank');
    await page.goto(`${origin}/${hash}`);
    await page.locator('.row.is-selected').waitFor();
    expect(page.url()).toContain('run=child&at=3');
    await context.close();
  });

  test('filters count their runs', async () => {
    const page = await scene.open('/?page=runs');
    await expect.poll(() => page.getByLabel('Status').innerText()).toContain('failed or cut off (3)');
    await page.context().close();
  });

  test('every tag is a filter that finds its runs', async () => {
    const page = await scene.open('/?page=runs');
    await page
      .locator('.run-row', { hasText: 'stuck-run' })
      .getByRole('link', { name: 'the same failure after each edit' })
      .click();
    await expect.poll(() => page.url()).toContain('pattern=same_failure_after_edits');
    await expect.poll(() => page.locator('.run-row').count()).toBe(1);
    await page.goto(new URL('/?page=runs', page.url()).href);
    await page.locator('.run-row', { hasText: 'Nothing works' }).getByRole('link', { name: 'Failed' }).click();
    await expect.poll(() => page.url()).toContain('status=failed');
    await expect.poll(() => page.locator('.run-row').count()).toBe(3);
    await page.locator('.run-row', { hasText: 'Nothing works' }).click();
    await page.locator('.run-title').getByRole('link', { name: 'Failed' }).click();
    await expect.poll(() => page.url()).toContain('status=failed');
    await expect.poll(() => page.locator('.run-row').count()).toBe(3);
    await page.context().close();
  });

  test('counts for the filters again after a count that failed', async () => {
    const page = await scene.open('/?run=none');
    let requests = 0;
    await page.route('**/api/runs?*', async (route) => {
      requests += 1;
      if (requests === 2) return route.abort();
      const response = await route.fetch();
      const answer = Object.assign(await response.json(), requests === 1 ? { notLookedAt: 1, facets: null } : {});
      return route.fulfill({ response, json: answer });
    });
    await page.goto(new URL('/?page=runs', page.url()).href);
    await expect.poll(() => requests).toBe(3);
    await page.unrouteAll({ behavior: 'wait' });
    await page.context().close();
  });

  test('does not say that nothing matches while it still searches', async () => {
    const page = await scene.open('/?run=none');
    await page.route('**/api/runs?*', async (route) => {
      const response = await route.fetch();
      return route.fulfill({ response, json: Object.assign(await response.json(), { pending: 1 }) });
    });
    await page.goto(new URL('/?q=no-such-word', page.url()).href);
    await page.getByText('0 runs, still reading').waitFor();
    await page.getByText('Searching…').waitFor();
    expect(await page.getByText('No run matches').count()).toBe(0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.getByText('No run matches').waitFor();
    await page.context().close();
  });

  test('says what to do when nothing matches', async () => {
    const page = await scene.open('/?model=no-such-model');
    await page.getByText('No run matches').waitFor();
    await page.getByRole('button', { name: 'Show all runs' }).click();
    await expect.poll(() => page.locator('.run-row').count()).toBe(4);
    await page.context().close();
  });

  test('sorts by a figure', async () => {
    const page = await scene.open('/?page=runs');
    const first = (): Promise<string> => page.locator('.run-row').first().innerText();
    await page.getByRole('link', { name: 'Most calls' }).click();
    await expect.poll(first).toContain('stuck-run');
    expect(page.url()).toContain('sort=calls');
    const chosen = page.getByRole('group', { name: 'Order' }).locator('[aria-current]');
    await expect.poll(() => chosen.allInnerTexts()).toEqual(['Most calls']);
    await page.context().close();
  });

  test('opens a run with the keyboard alone', async () => {
    const page = await scene.open('/?sort=calls');
    await page.locator('.run-row').nth(3).waitFor();
    for (const key of ['j', 'j', 'k', 'k', 'Enter']) await page.keyboard.press(key);
    await page.locator('.run-strip').waitFor();
    expect(page.url()).toContain('run=stuck-run');
    await page.context().close();
  });

  test('announces a run that appears while it is open', async () => {
    const page = await scene.open('/?page=runs');
    await page.locator('.run-row').first().waitFor();
    await addRun(scene.store, 'newcomer', [startOf('newcomer', 'Just begun')], { startMs: Date.now() });
    await page.getByText('1 run appeared since.').waitFor();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await expect.poll(() => page.locator('.run-row', { hasText: 'Just begun' }).count()).toBe(1);
    await page.context().close();
  });

  test('says that the token is missing, and where it is', async () => {
    const context = await scene.browser.newContext();
    context.setDefaultTimeout(HANGS_AFTER_MS);
    const page = await context.newPage();
    await page.goto(new URL(scene.viewer.url).origin);
    await expect.poll(() => page.getByText('Open the complete address that').count()).toBe(1);
    await context.close();
  });
});
