import { readFile } from 'node:fs/promises';

import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { TrajectoryRecord } from '../../src/core/records/trajectory-record.ts';
import { findChromium } from './chromium.ts';
import { addRun, addSampleRun, faultsOf, shellTurn, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();

/** A token of the form that the host uses; it opens nothing. */
const TOKEN = `ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}`;

/** The hand of a user: counts the steps of a task and refuses one more than its budget. */
class Hand {
  readonly page: Page;
  #left: number;

  constructor(page: Page, budget: number) {
    this.page = page;
    this.#left = budget;
  }

  async click(target: Locator): Promise<void> {
    this.#step();
    await target.click();
  }

  async choose(name: string, value: string): Promise<void> {
    this.#step();
    await this.page.getByLabel(name).selectOption(value);
  }

  async pointAt(x: number, y: number): Promise<void> {
    this.#step();
    await this.page.mouse.move(x, y);
  }

  #step(): void {
    if (this.#left === 0) throw new Error('this step is beyond the budget of the task');
    this.#left -= 1;
  }
}

/** Tasks begin on the first page, or on the page of the run that they are about. Labelling has its budget in `review.test.ts`. */
describe.skipIf(chromium === undefined)('within its budget of steps, a user (needs a Chromium)', () => {
  let scene: ViewerScene;

  beforeAll(async () => {
    scene = await viewerScene({
      chromium: chromium ?? '',
      fill: async (store) => {
        await addSampleRun(store);
        const end = (success: boolean) => ({ kind: 'run_ended', outcome: 'ended', new_messages: [], success }) as const;
        for (const success of [true, false]) {
          const name = `to-and-fro-${success ? 'good' : 'bad'}`;
          const turns = Array.from({ length: 16 }, (_, at) =>
            shellTurn(at, at % 2 === 0 ? 'cat a' : 'cat b', 'the same'),
          );
          await addRun(store, name, [startOf(name, 'Decide'), ...turns.flat(), end(success)]);
        }
        const spent = (input_tokens: number): TrajectoryRecord['payload'] => ({
          kind: 'message_appended',
          message: { role: 'assistant', content: 'On it.', usage: { input_tokens, cost_usd: 0.25 } },
        });
        await addRun(store, 'secret', [
          startOf('secret', 'Push it'),
          ...shellTurn(0, `git push https://x:${TOKEN}@github.com/a/b`, 'done'),
          { kind: 'message_appended', message: { role: 'assistant', content: 'All done with the token.' } },
        ]);
        await addRun(store, 'counted', [startOf('counted', 'Count'), spent(500), spent(1_000)]);
      },
    });
  });
  afterAll(() => scene.close());

  const handAt = async (path: string, budget: number): Promise<Hand> =>
    new Hand(await scene.open(path, { permissions: ['clipboard-read', 'clipboard-write'] }), budget);
  const done = async ({ page }: Hand): Promise<void> => {
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  };

  test('compares a failed and a successful run of a task (2)', async () => {
    const hand = await handAt('/', 2);
    const { page } = hand;
    await hand.click(page.getByRole('link', { name: 'By task' }));
    await hand.click(page.getByRole('row', { name: /^Decide/ }).getByRole('link', { name: 'Compare' }));
    await expect.poll(() => page.locator('.pair.names a').allInnerTexts()).toHaveLength(2);
    await done(hand);
  });

  test('copies the link to a moment (1)', async () => {
    const hand = await handAt('/?source=0&run=stuck-run&at=45', 1);
    await hand.page.locator('.row.is-selected').waitFor();
    await hand.click(hand.page.getByRole('button', { name: 'Copy link' }));
    await expect.poll(() => hand.page.evaluate('navigator.clipboard.readText()')).toBe(hand.page.url());
    await done(hand);
  });

  test('lists the failing runs with ping-pong (2)', async () => {
    const hand = await handAt('/', 2);
    const { page } = hand;
    await hand.choose('Pattern', 'ping_pong');
    await expect.poll(() => page.locator('.run-row').count()).toBe(3);
    await hand.choose('Status', 'failed');
    await expect
      .poll(() => page.locator('.run-row').allInnerTexts())
      .toEqual([expect.stringContaining('to-and-fro-bad')]);
    await done(hand);
  });

  test('reads the tokens and the cost up to a point in time (1)', async () => {
    const hand = await handAt('/?source=0&run=counted', 1);
    const strip = hand.page.locator('.run-strip');
    await strip.waitFor();
    const box = await strip.boundingBox();
    await hand.pointAt((box?.x ?? 0) + (box?.width ?? 0) - 2, (box?.y ?? 0) + 10);
    await expect
      .poll(() => hand.page.locator('.strip-row .place').innerText())
      .toMatch(/1,500 tokens so far, cached included · \$0\.50/);
    await done(hand);
  });

  test('shares a run, and sees what was masked before (2)', async () => {
    const hand = await handAt('/?source=0&run=secret', 2);
    await hand.click(hand.page.getByRole('button', { name: 'Share' }));
    await expect.poll(() => hand.page.getByRole('dialog').innerText()).toMatch(/masked:\s+github-token\s+[1-9]/);
    const [download] = await Promise.all([
      hand.page.waitForEvent('download'),
      hand.click(hand.page.getByRole('link', { name: 'Save the file' })),
    ]);
    expect(download.suggestedFilename()).toBe('coxswain-secret.html');
    const page = await readFile((await download.path()) ?? '', 'utf8');
    expect(page).toContain('All done with the token.');
    expect(page).not.toContain(TOKEN);
    await done(hand);
  });

  test('follows a live run (1)', async () => {
    const startMs = Date.now() - 60_000;
    const begun = [startOf('live', 'At work'), ...shellTurn(0, 'ls', 'first')];
    await addRun(scene.store, 'live', begun, { startMs });
    const hand = await handAt('/?page=runs', 1);
    await hand.click(hand.page.locator('.run-name', { hasText: 'At work' }));
    await hand.page.getByRole('button', { name: /Following/ }).waitFor();
    await addRun(scene.store, 'live', shellTurn(1, 'next-step', 'second'), { fromSeq: begun.length, startMs });
    await expect.poll(() => hand.page.locator('.row', { hasText: 'next-step' }).innerText()).toContain('1.0 s');
    await done(hand);
  });
});
