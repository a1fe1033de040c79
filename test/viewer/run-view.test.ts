import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { WITHHELD_REASON } from '../../src/records/delivery-reason.ts';
import type { TrajectoryRecord } from '../../src/records/trajectory-record.ts';
import type { TrajectoryStore } from '../../src/store/trajectory-store.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { findChromium } from './chromium.ts';
import { addLargeRun } from './large-run.ts';
import { addRun, addSampleRun, faultsOf, shellTurn, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();

/** The row that is chosen, as text. */
function chosen(page: Page): Promise<string> {
  return page.locator('.row.is-selected').innerText();
}

/** The sample once more as `withheld`: of its advice nothing was said. */
async function addWithheldRun(store: TrajectoryStore): Promise<void> {
  const records: TrajectoryRecord[] = [];
  const own = { run_id: 'withheld' };
  for await (const record of store.readRun('stuck-run')) {
    const { payload } = record;
    const fate = { delivered: false, reason: WITHHELD_REASON };
    if (payload.kind === 'feedback_delivered') records.push({ ...record, ...own, payload: { ...payload, ...fate } });
    else if (payload.kind === 'guidance_delivered') {
      const guidance = { ...payload.guidance, ...fate };
      records.push({ ...record, ...own, payload: { ...payload, guidance } });
    } else records.push({ ...record, ...own });
  }
  await store.append(records);
}

function placeOf(page: Page): number {
  return Number(new URL(page.url()).searchParams.get('at'));
}

describe.skipIf(chromium === undefined)('one run (needs a Chromium)', () => {
  let scene: ViewerScene;
  let labels: { readonly path: string; dispose(): Promise<void> };

  beforeAll(async () => {
    labels = await tempFolder();
    scene = await viewerScene({
      chromium: chromium ?? '',
      fill: async (store) => {
        await addSampleRun(store);
        await addSampleRun(store, 'other-run');
        await store.flush();
        await addWithheldRun(store);
        await addLargeRun(store, 'large', 4_000);
        await addRun(store, 'odd', [
          startOf('odd', 'A tool of a very long name'),
          { kind: 'tool_started', tool_call_id: 'a', tool_name: 'n'.repeat(30_000), args: {} },
          ...shellTurn(1, 'ls', 'after it'),
        ]);
        await addRun(store, 'long-output', [
          startOf('long-output', 'Print much'),
          ...shellTurn(0, 'seq 200', Array.from({ length: 200 }, (_, line) => `line ${line}`).join('\n')),
          ...shellTurn(1, 'cat big', `${'x'.repeat(30_000)}the very end`),
        ]);
      },
      viewer: { labels: join(labels.path, 'labels.csv') },
    });
  });
  afterAll(async () => {
    await scene.close();
    await labels.dispose();
  });

  test('shows calls with their results, and beside them what was said, why, and what came of it', async () => {
    const page = await scene.open('/?source=0&run=stuck-run');
    const call = page.locator('.row', { hasText: 'invoice.mjs' }).first();
    await call.waitFor();
    expect(await page.locator('.row', { hasText: 'import { taxOf }' }).first().innerText()).toContain('read_file');
    const card = page.locator('.card', { hasText: 'has failed 5 times' }).first();
    await card.waitFor();
    expect(await card.innerText()).toMatch(/delivered[\s\S]*Evidence[\s\S]*Then/);
    await card.getByRole('button', { name: 'Call 3', exact: true }).click();
    await expect.poll(() => chosen(page)).toContain('FAIL total');
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('tells advice that was withheld from advice that was said, in the conversation and in the list', async () => {
    const page = await scene.open('/?source=0&run=withheld');
    const row = page.locator('.row .spoken').first();
    await row.waitFor();
    await expect.poll(() => row.locator('.who').innerText()).toContain('withheld');
    expect(await row.getAttribute('class')).toContain('is-unsaid');
    await page.goto(new URL('/?sort=errors', page.url()).href);
    const listed = page.locator('.run-row', { hasText: 'withheld' });
    await listed.getByText('not said').waitFor({ state: 'attached' });
    expect(await listed.locator('.strip title').textContent()).not.toContain('with advice');
    await page.context().close();
  });

  test('goes to the next and the last error, pattern and advice by their keys', async () => {
    const page = await scene.open('/?source=0&run=stuck-run');
    await page.locator('.row .call-head').first().waitFor();
    await page.keyboard.press('e');
    await expect.poll(() => chosen(page)).toContain('failed');
    const first = placeOf(page);
    await page.keyboard.press('e');
    await expect.poll(() => placeOf(page)).toBeGreaterThan(first);
    await page.keyboard.press('E');
    await expect.poll(() => placeOf(page)).toBe(first);
    await page.keyboard.press('p');
    await expect.poll(() => chosen(page)).toContain('same failure after edits');
    await page.keyboard.press('a');
    await expect.poll(() => chosen(page)).toContain('Feedback by Pattern');
    await page.keyboard.press('A');
    await expect.poll(() => chosen(page)).toContain('Feedback by Deadline');
    await page.context().close();
  });

  test('steps from row to row, and shows the same row when the address is opened again', async () => {
    const page = await scene.open('/?source=0&run=large&at=2002');
    await page.locator('.row.is-selected').waitFor();
    const before = placeOf(page);
    for (let step = 0; step < 5; step += 1) {
      const at = placeOf(page);
      await page.keyboard.press('j');
      await expect.poll(() => placeOf(page)).toBeGreaterThan(at);
    }
    const at = placeOf(page);
    await page.keyboard.press('k');
    await expect.poll(() => placeOf(page)).toBeLessThan(at);
    expect(placeOf(page)).toBeGreaterThan(before);
    const text = await chosen(page);
    await page.reload();
    await page.locator('.row.is-selected').waitFor();
    await expect.poll(() => chosen(page)).toBe(text);
    await expect.poll(() => page.locator('.row.is-selected').isVisible()).toBe(true);
    await page.context().close();
  });

  test('keeps a chosen row in sight while rows above it get their heights', async () => {
    const page = await scene.open('/?source=0&run=large&at=3001');
    await page.locator('.row.is-selected').waitFor();
    await page.waitForTimeout(600);
    const box = await page.locator('.row.is-selected').boundingBox();
    const view = await page.locator('.talk-scroll').boundingBox();
    expect(box !== null && view !== null && box.y >= view.y && box.y < view.y + view.height).toBe(true);
    await page.context().close();
  });

  test('holds a few pages of a long run only, wherever the reader goes', async () => {
    const page = await scene.open('/?source=0&run=large');
    await page.locator('.row .call-head').first().waitFor();
    for (let share = 0; share <= 10; share += 1) {
      await page.evaluate(
        `(() => { const e = document.querySelector('.talk-scroll'); e.scrollTop = e.scrollHeight * ${share / 10}; })()`,
      );
      await expect.poll(() => page.locator('.row.is-waiting').count()).toBe(0);
    }
    expect(await page.locator('.talk-item').count()).toBeLessThan(120);
    await expect.poll(() => page.locator('.row').last().innerText()).toContain('999');
    await page.context().close();
  });

  test('finds words in the run and marks them', async () => {
    const page = await scene.open('/?source=0&run=large');
    await page.locator('.row .call-head').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('part-700');
    await page.keyboard.press('Enter');
    await expect.poll(() => chosen(page)).toContain('make part-700');
    expect(await page.locator('.row.is-selected').innerHTML()).not.toContain('Step 700');
    expect(page.url()).toContain('find=part-700');
    await page.context().close();
  });

  test('folds long outputs, and fetches the whole of what was shortened', async () => {
    const page = await scene.open('/?source=0&run=long-output');
    await page.getByRole('button', { name: 'Show 190 more lines' }).click();
    await page.getByText('line 199').waitFor();
    await page.keyboard.press('G');
    await page.getByRole('button', { name: 'Show all 30,012 characters' }).click();
    await page.keyboard.press('G');
    await expect.poll(() => page.getByText('the very end').count()).toBe(1);
    await page.context().close();
  });

  test('shows as JSON what is not of the shape that its kind has, and the rest as ever', async () => {
    const page = await scene.open('/?source=0&run=odd');
    await page.getByText('after it').waitFor();
    await expect.poll(() => page.getByText('"$cut"').count()).toBeGreaterThan(0);
    await page.context().close();
  });

  test('follows a run that is at work, and when paused counts what is new', async () => {
    const startMs = Date.now() - 60_000;
    const begun = [startOf('live', 'At work'), ...shellTurn(0, 'ls', 'first')];
    await addRun(scene.store, 'live', begun, { startMs });
    const page = await scene.open('/?source=0&run=live');
    await page.getByRole('button', { name: /Following/ }).waitFor();
    // Frames that come late, as on a loaded machine: what is at hand and what is drawn then differ for long.
    await page.evaluate('window.requestAnimationFrame = (draw) => setTimeout(draw, 700)');
    let next = begun.length;
    const write = async (payloads: ReturnType<typeof shellTurn>): Promise<void> => {
      await addRun(scene.store, 'live', payloads, { fromSeq: next, startMs });
      next += payloads.length;
    };
    for (let at = 1; at < 20; at += 1) await write(shellTurn(at, `step-${at}`, `answer ${at}`));
    const last = shellTurn(20, 'step-20', 'answer 20');
    await write(last.slice(0, -1));
    await page.getByText('step-20').waitFor();
    await write(last.slice(-1));
    await page.getByText('answer 20').waitFor();
    expect(await page.getByText('answer 20').isVisible()).toBe(true);
    await page.keyboard.press('f');
    await page.getByRole('button', { name: 'Paused · 0 new' }).waitFor();
    await write(shellTurn(21, 'step-21', 'answer 21'));
    await page.getByRole('button', { name: 'Paused · 4 new' }).waitFor();
    expect(await page.getByText('answer 21').count()).toBe(0);
    await page.keyboard.press('f');
    await page.getByText('answer 21').waitFor();
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('labels a call with one key, which writes the file', async () => {
    const page = await scene.open('/?source=0&run=stuck-run');
    await page.locator('.row .call-head').first().waitFor();
    await page.keyboard.press('e');
    await expect.poll(() => chosen(page)).toContain('failed');
    await page.keyboard.press('y');
    await page.getByText('Call 3: stuck.').waitFor();
    expect(await readFile(join(labels.path, 'labels.csv'), 'utf8')).toContain('stuck-run@3,stuck');
    await page.keyboard.press('u');
    await page.getByText('Call 3 has no label now.').waitFor();
    expect(await readFile(join(labels.path, 'labels.csv'), 'utf8')).not.toContain('stuck-run@3');
    await page.context().close();
  });

  test('labels the call that was clicked, not the whole run', async () => {
    const page = await scene.open('/?source=0&run=other-run');
    await page.locator('.row .call-head').nth(1).click();
    await expect.poll(() => page.locator('.row.is-selected').count()).toBe(1);
    await page.keyboard.press('y');
    await page.getByText('Call 1: stuck.').waitFor();
    expect(await readFile(join(labels.path, 'labels.csv'), 'utf8')).toContain('other-run@1,stuck');
    await page.context().close();
  });

  test('compares two runs and goes from a row to the call', async () => {
    const page = await scene.open('/?page=compare&a=0/stuck-run&b=0/large');
    await page.getByText('They part at row 1').waitFor();
    await page.locator('.pair .cell').first().click();
    await page.locator('.row.is-selected').waitFor();
    await page.goto(`${new URL(scene.viewer.url).origin}/?page=compare&a=0/stuck-run&b=0/other-run`);
    await expect.poll(() => page.getByText('They never part.').count()).toBe(1);
    await page.context().close();
  });

  test('finds the moment that a report names, and says when no source has the run', async () => {
    const page = await scene.open('/?page=moment&run=stuck-run&call=13');
    await page.locator('.row.is-selected').waitFor();
    expect(await chosen(page)).toContain('FAIL total');
    expect(page.url()).toContain('run=stuck-run');
    await page.goto(`${new URL(scene.viewer.url).origin}/?page=moment&run=gone&call=0`);
    await expect.poll(() => page.getByText('No run gone here').count()).toBe(1);
    await page.context().close();
  });

  test('shows its keys by ? and closes them by Escape', async () => {
    const page = await scene.open('/?source=0&run=stuck-run');
    await page.locator('.row').first().waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await page.context().close();
  });

  test('zooms its timeline by keys without losing the chosen row', async () => {
    const page = await scene.open('/?source=0&run=large&at=2002');
    await page.locator('.row.is-selected').waitFor();
    const whole = page.getByRole('button', { name: 'Whole run' });
    expect(await whole.isDisabled()).toBe(true);
    await page.keyboard.press('+');
    await expect.poll(() => whole.isDisabled()).toBe(false);
    await page.keyboard.press('0');
    await expect.poll(() => whole.isDisabled()).toBe(true);
    await page.context().close();
  });
});
