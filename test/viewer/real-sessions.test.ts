import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { sharedPath } from '../support/shared-data.ts';
import { findChromium } from './chromium.ts';
import { Hand } from './hand.ts';
import { faultsOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();
const SESSIONS = sharedPath('trajectories', 'claude-code-sessions') ?? '';
/** The longest session: 192 calls. */
const LONGEST = '545b45d4-729e-4d0b-8e6b-45cb65d43f00';
const SCREEN = { viewport: { width: 1440, height: 900 } };

describe.skipIf(chromium === undefined || SESSIONS === '')(
  'with 97 real sessions, a user (needs a Chromium and ../shared)',
  () => {
    let scene: ViewerScene;

    beforeAll(async () => {
      scene = await viewerScene({ chromium: chromium ?? '', fill: async () => {}, paths: [SESSIONS] });
      // The 97 files hold 23 runs of subagents too.
      const page = await scene.open('/?sort=cost', SCREEN);
      await page.getByText(/^120 runs, (at least )?\$\d+\.\d\d, \d+ need you(, \d+ without a price)?$/).waitFor();
      await page.context().close();
    });
    afterAll(() => scene.close());

    const handAt = async (path: string, budget: number): Promise<Hand> =>
      new Hand(await scene.open(path, SCREEN), budget);
    const done = async ({ page }: Hand): Promise<void> => {
      expect(faultsOf(page)).toEqual([]);
      await page.context().close();
    };

    test('reads 192 calls in at most 40 screens', async () => {
      const hand = await handAt(`/?source=0&run=${LONGEST}`, 0);
      const { page } = hand;
      await page.locator('.row .call-head').first().waitFor();
      const screens = async (): Promise<number> =>
        page.evaluate<number>('document.documentElement.scrollHeight / innerHeight');
      for (let screen = 0; screen < (await screens()); screen += 1) {
        await page.evaluate(`scrollTo(0, ${screen} * innerHeight)`);
        await expect.poll(() => page.locator('.row.is-waiting').count()).toBe(0);
      }
      expect(await screens()).toBeLessThanOrEqual(40);
      await done(hand);
    });

    test('sees how each of three sessions ended and their last answers (0)', async () => {
      for (const [id, ending, answer] of [
        [LONGEST, 'Succeeded', 'All review threads addressed.'],
        ['9e4910ab-95a9-4a30-a85e-4677017bfaf0', 'Succeeded', 'All 6 security findings fixed'],
        ['6af70815-f797-419c-b957-abbc09f18bb3', 'Cut off', ''],
      ] as const) {
        const hand = await handAt(`/?source=0&run=${id}`, 0);
        await expect.poll(() => hand.page.locator('.run-title').innerText()).toContain(ending);
        await expect.poll(() => hand.page.locator('.last-answer').innerText()).toContain(answer);
        await done(hand);
      }
    });

    test('finds the call after which the check of a changed file first failed (2)', async () => {
      const hand = await handAt('/?q=clean%20logging%20and%20branch%20deletion', 2);
      const { page } = hand;
      await hand.click(page.locator('.run-row', { hasText: 'Fix entire clean logging' }).first().locator('.run-name'));
      await hand.click(page.getByRole('navigation', { name: 'Outline' }).locator('.entry.bad').first());
      await expect.poll(() => page.locator('.row.is-selected').innerText()).toMatch(/Call\s+64\b/);
      await done(hand);
    });

    test('reads the same outcomes in the list and in the table of tasks', async () => {
      const hand = await handAt('/?q=gsd%3Acheck-todos', 1);
      const { page } = hand;
      const row = page.locator('.run-row', { hasText: 'how do I commit all the latest' });
      await expect.poll(() => row.innerText()).toContain('Succeeded');
      await hand.click(page.getByRole('link', { name: 'By task' }));
      await expect.poll(() => page.getByRole('row', { name: /^how do I commit/ }).innerText()).toMatch(/1\s+100 %/);
      await done(hand);
    });

    test('sees which sessions need someone on the first screen (0), and the dearest with one click (1)', async () => {
      const hand = await handAt('/', 1);
      const { page } = hand;
      await expect.poll(() => page.locator('.run-group').first().innerText()).toMatch(/^Needs you\s+\d+/);
      expect(await page.locator('.run-row').first().innerText()).toMatch(
        /Cut off|Failed|Waiting|Answered|Stopped|No end/,
      );
      await hand.click(page.getByRole('link', { name: 'Dearest' }));
      await expect.poll(() => page.locator('.run-row').first().innerText()).toContain('$13.43');
      await done(hand);
    });
  },
);
