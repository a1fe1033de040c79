import { readFile } from 'node:fs/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { TrajectoryRecord } from '../../src/core/records/trajectory-record.ts';
import { sharedRunsIn } from '../../src/viewer/server/shared-data.ts';
import { findChromium } from './chromium.ts';
import { Hand } from './hand.ts';
import { addRun, addSampleRun, faultsOf, shellTurn, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();

/** A token of the form that the host uses; it opens nothing. */
const TOKEN = `ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}`;

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
        const edit = { path: 'a.ts', old_str: 'return 1;', new_str: 'return 2;' };
        await addRun(store, 'checked', [
          startOf('checked', 'Mend a.ts'),
          ...shellTurn(0, 'npm test', '3 passed'),
          { kind: 'tool_started', tool_call_id: 'e', tool_name: 'edit', args: edit },
          { kind: 'tool_ended', tool_call_id: 'e', tool_name: 'edit', result: 'ok', is_error: false },
          ...shellTurn(2, 'npm test', '1 failed', true),
          { kind: 'message_appended', message: { role: 'assistant', content: 'The test fails.' } },
          { kind: 'run_ended', outcome: 'ended', reason: 'answered', new_messages: [] },
        ]);
        await addRun(store, 'secret', [
          startOf('secret', 'Push it'),
          ...shellTurn(0, `git push https://x:${TOKEN}@github.com/a/b`, 'done'),
          { kind: 'message_appended', message: { role: 'assistant', content: 'All done with the token.' } },
        ]);
        await addRun(store, 'counted', [startOf('counted', 'Count'), spent(500), spent(1_000)]);
        const unpriced = { role: 'assistant', content: 'On it.', usage: { input_tokens: 5 } } as const;
        await addRun(store, 'unpriced', [
          startOf('unpriced', 'Guess'),
          { kind: 'message_appended', message: unpriced },
        ]);
      },
    });
  });
  afterAll(() => scene.close());

  const handAt = async (path: string, budget: number): Promise<Hand> => new Hand(await scene.open(path), budget);
  const done = async ({ page }: Hand): Promise<void> => {
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  };

  test('sees how a run ended, and its last answer, when it opens (0)', async () => {
    const hand = await handAt('/?source=0&run=checked', 0);
    await expect
      .poll(() => hand.page.locator('.run-title').innerText())
      .toMatch(/Answered[\s\S]*a check \(call 3, npm test\) failed/);
    await expect
      .poll(() => hand.page.getByRole('region', { name: 'Last answer' }).innerText())
      .toContain('The test fails.');
    await done(hand);
  });

  test('finds the call after which the check of a file first failed (2)', async () => {
    const hand = await handAt('/', 2);
    const { page } = hand;
    await hand.click(page.locator('.run-row', { hasText: 'Mend a.ts' }).locator('.run-name'));
    await hand.click(page.getByRole('navigation', { name: 'Outline' }).getByRole('button', { name: '✗ 3' }));
    await expect.poll(() => page.locator('.row.is-selected').innerText()).toMatch(/npm test[\s\S]*1 failed/);
    await done(hand);
  });

  test('sees whether advice was followed (2)', async () => {
    const hand = await handAt('/', 2);
    const { page } = hand;
    await hand.click(page.locator('.run-row', { hasText: 'check.mjs fails' }).locator('.run-name'));
    await hand.click(
      page
        .getByRole('navigation', { name: 'Outline' })
        .getByRole('button', { name: /^Pattern/ })
        .first(),
    );
    await expect.poll(() => page.locator('.side .card').first().innerText()).toMatch(/delivered[\s\S]*Then/);
    await done(hand);
  });

  test('sees on the first screen which runs need someone, and which call hangs (0)', async () => {
    const startMs = Date.now() - 1_200_000;
    const call = {
      kind: 'tool_started',
      tool_call_id: 'h',
      tool_name: 'bash',
      args: { command: 'mise run fmt' },
    } as const;
    await addRun(scene.store, 'hanging', [startOf('hanging', 'Format it'), call], { startMs });
    const hand = await handAt('/', 0);
    const { page } = hand;
    const row = page.locator('.run-row', { hasText: 'Format it' });
    await expect
      .poll(() => row.innerText())
      .toMatch(/Silent in a call[\s\S]*"mise run fmt" has no result yet, no record for (19|20) min/);
    expect(await page.locator('.run-group').first().innerText()).toMatch(/^Needs you/);
    await done(hand);
  });

  test('finds the dearest run and its dearest step (1 each)', async () => {
    const hand = await handAt('/', 2);
    const { page } = hand;
    await expect
      .poll(() => page.getByRole('search').innerText())
      .toMatch(/\d runs, at least \$0\.50, .*1 without a price$/);
    await hand.click(page.getByRole('link', { name: 'Dearest' }));
    await expect.poll(() => page.locator('.run-row').first().innerText()).toContain('$0.50');
    await page.goto(`${new URL(scene.viewer.url).origin}/?source=0&run=counted`);
    const dearest = page.getByRole('navigation', { name: 'Outline' }).locator('details', { hasText: 'Dearest steps' });
    await hand.click(dearest.getByRole('button').first());
    await expect.poll(() => page.locator('.row.is-selected').innerText()).toContain('$0.25');
    await done(hand);
  });

  test('compares a failed and a successful run of a task (2)', async () => {
    const hand = await handAt('/', 2);
    const { page } = hand;
    await hand.click(page.getByRole('link', { name: 'By task' }));
    await hand.click(page.getByRole('row', { name: /^Decide/ }).getByRole('link', { name: 'Compare' }));
    await expect.poll(() => page.locator('.pair.names a').allInnerTexts()).toHaveLength(2);
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
    const data = JSON.stringify(await sharedRunsIn(page));
    expect(data).toContain('All done with the token.');
    expect(page + data).not.toContain(TOKEN);
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
