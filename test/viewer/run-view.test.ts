import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { WITHHELD_REASON } from '../../src/core/records/words.ts';
import type { TrajectoryRecord } from '../../src/core/records/trajectory-record.ts';
import type { TrajectoryStore } from '../../src/core/store/trajectory-store.ts';
import type { RunAnswer } from '../../src/viewer/server/api-shapes.ts';
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
/** Waits for a text that the page shows only for a while after an action, from before the action on. */
async function answers(page: Page, text: string, act: () => Promise<void>): Promise<void> {
  await Promise.all([page.getByText(text).waitFor(), act()]);
}

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

/** The result of an MCP tool that shows the screen: a picture of four pixels. */
const PICTURE = [
  { type: 'text', text: 'The screen:' },
  {
    type: 'image',
    mimeType: 'image/png',
    data: 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==',
  },
];

const EDIT = { path: 'a.ts', old_str: 'keep\nreturn 1;', new_str: 'keep\nreturn 2;' };

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
        await addRun(store, 'picture', [
          startOf('picture', 'Look at it'),
          { kind: 'tool_started', tool_call_id: 'p', tool_name: 'screenshot', args: {} },
          { kind: 'tool_ended', tool_call_id: 'p', tool_name: 'screenshot', result: PICTURE, is_error: false },
          { kind: 'tool_started', tool_call_id: 't', tool_name: 'Task', args: { prompt: 'Count the lines of a.ts' } },
          { kind: 'tool_ended', tool_call_id: 't', tool_name: 'Task', result: '7', is_error: false },
        ]);
        await addRun(store, 'counter', [startOf('counter', 'Count the lines of a.ts'), ...shellTurn(0, 'wc', '7')], {
          parentRunId: 'picture',
        });
        const spent = (input_tokens: number, cache_read_tokens = 0): TrajectoryRecord['payload'] => ({
          kind: 'message_appended',
          message: { role: 'assistant', content: 'On it.', usage: { input_tokens, cache_read_tokens } },
        });
        const requestOf = (message_count: number, tools: readonly string[]): TrajectoryRecord['payload'] => ({
          kind: 'provider_request_prepared',
          iteration: 0,
          model_id: 'gpt-5',
          system_prompt_chars: 1_200,
          message_count,
          tool_count: tools.length,
          tools,
        });
        await addRun(store, 'asked', [
          startOf('asked', 'Ask'),
          requestOf(1, ['bash', 'read']),
          ...shellTurn(0, 'ls', 'a'),
          requestOf(3, ['bash']),
          ...shellTurn(1, 'ls b', 'b'),
          requestOf(5, []),
        ]);
        await addRun(store, 'counted', [startOf('counted', 'Count'), spent(500, 2_000), spent(1_000)]);
        await addRun(store, 'edits', [
          startOf('edits', 'Look at it'),
          ...shellTurn(0, 'make', 'no rule', true),
          ...shellTurn(1, 'make', 'no rule', true),
          { kind: 'tool_started', tool_call_id: 'e', tool_name: 'edit', args: EDIT },
          { kind: 'tool_ended', tool_call_id: 'e', tool_name: 'edit', result: 'ok', is_error: false },
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

  test('shows calls with their results, and beside them the advice that was clicked in the outline, its reason and its outcome', async () => {
    const page = await scene.open('/?source=0&run=stuck-run');
    const call = page.locator('.row', { hasText: 'invoice.mjs' }).first();
    await call.waitFor();
    await page.locator('.call-head', { hasText: 'read_file' }).first().click();
    await expect
      .poll(() => page.locator('.row', { hasText: 'import { taxOf }' }).first().innerText())
      .toContain('read_file');
    expect(await page.locator('.side').count()).toBe(0);
    await page
      .getByRole('navigation', { name: 'Outline' })
      .getByRole('button', { name: /^Pattern/ })
      .first()
      .click();
    const card = page.locator('.card', { has: page.getByRole('button', { name: 'Call 4', exact: true }) }).first();
    await card.waitFor();
    await expect.poll(() => card.innerText()).toMatch(/delivered[\s\S]*Evidence[\s\S]*Then/);
    await card.getByRole('button', { name: 'Call 4', exact: true }).click();
    await expect.poll(() => chosen(page)).toContain('FAIL total');
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('a card compares the calls around its advice, leads to all runs with the pattern, and is judged with a button', async () => {
    const page = await scene.open('/?source=0&run=stuck-run');
    await page
      .getByRole('navigation', { name: 'Outline' })
      .getByRole('button', { name: /^Pattern/ })
      .first()
      .click();
    const card = page.locator('.card', { has: page.getByRole('link', { name: /All runs with this pattern/ }) }).first();
    await card.waitFor();
    await expect.poll(() => card.innerText()).toMatch(/4 calls before\s+\d .*fail[\s\S]*calls after\s+\d .*fail/);
    await expect
      .poll(() => card.getByRole('link', { name: /All runs with this pattern/ }).getAttribute('href'))
      .toMatch(/pattern=/);
    const useful = card.getByRole('button', { name: 'useful' });
    await useful.click();
    await expect.poll(() => useful.getAttribute('aria-pressed')).toBe('true');
    await expect.poll(() => page.locator('.facts .label').innerText()).toMatch(/labelled .*moment/);
    await useful.click();
    await expect.poll(() => useful.getAttribute('aria-pressed')).toBe('false');
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('distinguishes withheld from delivered advice, in the conversation and in the list', async () => {
    const page = await scene.open('/?source=0&run=withheld');
    const row = page.locator('.row .spoken').first();
    await row.waitFor();
    await expect.poll(() => row.locator('.who').innerText()).toMatch(/withheld\s+next call: /);
    expect(await row.getAttribute('class')).toContain('is-unsaid');
    await page.goto(new URL('/?sort=errors', page.url()).href);
    const listed = page.locator('.run-row', { hasText: 'withheld' });
    await listed.getByText('not said').waitFor({ state: 'attached' });
    await page.context().close();
  });

  test('goes to the next and the previous error, pattern and advice by keys', async () => {
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
    await expect.poll(() => chosen(page)).toContain('the same failure after each edit');
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
    expect(box !== null && box.y >= 28 && box.y < 768).toBe(true);
    await page.context().close();
  });

  test('holds only a few pages of a long run in memory, wherever the user goes', async () => {
    const page = await scene.open('/?source=0&run=large');
    await page.locator('.row .call-head').first().waitFor();
    for (let share = 0; share <= 10; share += 1) {
      await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight * ${share / 10})`);
      await expect.poll(() => page.locator('.row.is-waiting').count()).toBe(0);
    }
    expect(await page.locator('.talk-item').count()).toBeLessThan(120);
    await expect.poll(() => page.locator('.row').last().innerText()).toContain('999');
    await page.context().close();
  });

  test('a person who scrolls a long run down and up, a screen every 50 ms, sees no row that is still being fetched', async () => {
    const page = await scene.open('/?source=0&run=large');
    await page.locator('.row .call-head').first().waitFor();
    // It runs in the page, which a busy machine delays as a whole.
    const waiting = await page.evaluate<readonly number[]>(`(async () => {
      const counts = [];
      for (let step = 0; step < 80; step += 1) {
        scrollBy(0, step < 50 ? innerHeight : -innerHeight);
        await new Promise((resolve) => setTimeout(resolve, 50));
        const rows = [...document.querySelectorAll('.row.is-waiting')].map((row) => row.getBoundingClientRect());
        counts.push(rows.filter(({ bottom, top }) => bottom > 60 && top < innerHeight).length);
      }
      return counts;
    })()`);
    expect(waiting.filter((count) => count > 0)).toEqual([]);
    expect(await page.evaluate('scrollY')).toBeGreaterThan(5_000);
    await page.context().close();
  });

  test('shows the number and the kind of a row whose record is still being fetched', async () => {
    const page = await scene.open('/?source=0&run=large');
    await page.locator('.row .call-head').first().waitFor();
    const held = Promise.withResolvers<void>();
    await page.route(/\/records\?/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight * 0.7)');
    await expect
      .poll(() => page.locator('.row.is-waiting').allInnerTexts())
      .toContainEqual(expect.stringMatching(/^\d+\s+execute/));
    held.resolve();
    await expect.poll(() => page.locator('.row.is-waiting').count()).toBe(0);
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

  test('folds long outputs, and fetches cut values whole', async () => {
    const page = await scene.open('/?source=0&run=long-output');
    await page.locator('.call-head', { hasText: 'seq 200' }).click();
    await page.getByRole('button', { name: 'Show 190 more lines' }).click();
    await page.getByText('line 199').waitFor();
    await page.keyboard.press('G');
    await page.locator('.call-head', { hasText: 'cat big' }).click();
    await page.getByRole('button', { name: 'Show all 30,012 characters' }).click();
    await page.keyboard.press('G');
    await expect.poll(() => page.getByText('the very end').count()).toBe(1);
    await page.context().close();
  });

  test('finds words in folded texts, and unfolds them', async () => {
    const page = await scene.open('/?source=0&run=long-output');
    await page.locator('.row .call-head').first().waitFor();
    await page.getByLabel('Find in this run').fill('"line 150"');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate("[...CSS.highlights.get('found') ?? []].map(String)")).toContain('line 150');
    await page.context().close();
  });

  test('shows the pictures of a result, and opens the run that a call started in place', async () => {
    const page = await scene.open('/?source=0&run=picture');
    await page.locator('.call-head', { hasText: 'screenshot' }).click();
    const image = page.locator('.output img');
    await image.waitFor({ state: 'attached' });
    await expect.poll(() => page.locator('.output', { has: page.locator('img') }).innerText()).toContain('The screen:');
    await expect.poll(() => page.evaluate("document.querySelector('.output img').naturalWidth")).toBe(2);
    const child = page.locator('.child-run');
    await child.getByText('The run that this call started').click();
    await child.locator('.row .call-head').first().waitFor();
    expect(page.url()).toContain('run=picture');
    await child.getByRole('link', { name: 'Open it on its own page' }).click();
    await expect.poll(() => page.url()).toContain('run=counter');
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('shows malformed records as JSON, and the others as usual', async () => {
    const page = await scene.open('/?source=0&run=odd');
    await page.locator('.call-head', { hasText: 'ls' }).click();
    await page.getByText('after it').waitFor();
    await expect.poll(() => page.getByText('"$cut"').count()).toBeGreaterThan(0);
    await page.context().close();
  });

  test('follows a live run, and counts new records while paused', async () => {
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
    for (let at = 1; at < 20; at += 1) await write(shellTurn(at, `step-${at}`, `no answer ${'x'.repeat(at)}!`, true));
    const last = shellTurn(20, 'step-20', 'the last answer', true);
    await write(last.slice(0, -1));
    await page.getByText('step-20').waitFor();
    await write(last.slice(-1));
    await page.getByText('the last answer').waitFor();
    expect(await page.getByText('the last answer').isVisible()).toBe(true);
    await page.keyboard.press('f');
    await page.getByRole('button', { name: 'Paused · 0 new' }).waitFor();
    await page.evaluate('scrollTo(0, 0)');
    await write(shellTurn(21, 'step-21', 'another answer', true));
    await page.getByRole('button', { name: 'Paused · 2 new' }).waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.keyboard.press('f');
    await page.getByText('another answer').waitFor();
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('labels a call with one key, which writes the file', async () => {
    const page = await scene.open('/?source=0&run=stuck-run');
    await page.locator('.row .call-head').first().waitFor();
    await page.keyboard.press('e');
    await expect.poll(() => chosen(page)).toContain('failed');
    await answers(page, 'Call 4: stuck.', () => page.keyboard.press('y'));
    expect(await readFile(join(labels.path, 'labels.csv'), 'utf8')).toContain('stuck-run@4,stuck');
    await answers(page, 'Call 4 has no label now.', () => page.keyboard.press('u'));
    expect(await readFile(join(labels.path, 'labels.csv'), 'utf8')).not.toContain('stuck-run@4');
    await page.context().close();
  });

  test('labels the call that was clicked, not the whole run', async () => {
    const page = await scene.open('/?source=0&run=other-run');
    await page.locator('.row .call-head').nth(1).click();
    await expect.poll(() => page.locator('.row.is-selected').count()).toBe(1);
    await answers(page, 'Call 2: stuck.', () => page.keyboard.press('y'));
    expect(await readFile(join(labels.path, 'labels.csv'), 'utf8')).toContain('other-run@2,stuck');
    await page.context().close();
  });

  test('numbers calls from 1 on their rows, in the evidence, on the strip and in labels', async () => {
    const page = await scene.open('/?source=0&run=stuck-run');
    const calls = page.locator('.row:has(.call-head)');
    await expect.poll(() => calls.first().locator('.when').innerText()).toMatch(/^Call\s+1\b/);
    await expect.poll(() => calls.nth(3).locator('.when').innerText()).toMatch(/^Call\s+4\b/);
    await page
      .getByRole('navigation', { name: 'Outline' })
      .getByRole('button', { name: /^Pattern/ })
      .first()
      .click();
    const evidence = page.locator('.card .calls-list button', { hasText: /^4$/ }).first();
    await evidence.click();
    await expect.poll(() => page.locator('.row.is-selected .when').innerText()).toMatch(/^Call\s+4\b/);
    await expect.poll(() => page.locator('.strip-row .place').innerText()).toContain('call 4');
    await page.context().close();
  });

  test('labels by a button, and shows the label on the row, the run and in the list', async () => {
    const page = await scene.open('/?source=0&run=withheld&at=0&label=');
    await page.locator('.row .call-head').nth(2).click();
    const bar = page.getByRole('group', { name: 'Label' });
    await expect.poll(() => bar.innerText()).toContain('At call 3');
    await bar.getByRole('button', { name: /^stuck/ }).click();
    await expect.poll(() => page.locator('.row.is-selected .tag.label').innerText()).toBe('stuck');
    await expect.poll(() => page.locator('.run-title').innerText()).toContain('labelled 1 moment');
    await page.goto(new URL('/?page=runs', page.url()).href);
    await expect
      .poll(() => page.locator('.run-row', { hasText: 'withheld' }).innerText())
      .toContain('labelled 1 moment');
    await page.context().close();
  });

  test('tells the run in four sentences, and shows the state at the call chosen by arrow keys', async () => {
    const page = await scene.open('/?source=0&run=stuck-run');
    await expect.poll(() => page.locator('.story').innerText()).toMatch(/From call 4 .* noticed at call 12/);
    await expect.poll(() => page.locator('.story').innerText()).toMatch(/\d+ times, first after call 1/);
    await page.getByRole('button', { name: 'State at a call' }).click();
    await expect.poll(() => page.getByRole('region', { name: 'State of the run' }).innerText()).toContain('At call 39');
    await page.locator('.row .call-head').first().click();
    await expect.poll(() => page.getByRole('region', { name: 'State of the run' }).innerText()).toContain('At call 1');
    for (const call of [2, 3, 4]) {
      await page.keyboard.press('ArrowRight');
      await expect
        .poll(() => page.getByRole('region', { name: 'State of the run' }).innerText())
        .toContain(`At call ${call}`);
    }
    await expect
      .poll(() => page.getByRole('region', { name: 'State of the run' }).innerText())
      .toMatch(/failed at call 4|call 4, /);
    await page.context().close();
  });

  test('shows the model request of a call: the model, the sizes and the tools offered', async () => {
    const page = await scene.open('/?source=0&run=asked');
    await page.getByRole('button', { name: 'State at a call' }).click();
    const seen = page.locator('dt', { hasText: 'What the model saw this turn' }).locator('+ dd');
    const row = page.locator('.row .call-head');
    await row.first().click();
    const sizes = '1,200 characters of instructions';
    await expect.poll(() => seen.innerText()).toBe(`gpt-5 · 1 message · ${sizes}\n2 tools offered: bash, read`);
    await row.nth(1).click();
    await expect.poll(() => seen.innerText()).toBe(`gpt-5 · 3 messages · ${sizes}\n1 tool offered: bash`);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('shows the tokens of a run that had not been read when it was opened', async () => {
    const page = await scene.open('/');
    let isFirst = true;
    await page.route(/\/runs\/0\/counted$/, async (route) => {
      const response = await route.fetch();
      if (!isFirst) return route.fulfill({ response });
      isFirst = false;
      // The answer while the run is being read.
      const { run, overview, ...rest } = (await response.json()) as RunAnswer;
      const { tokens: _tokens, cacheTokens: _cached, ...facts } = run;
      const unread = { ...facts, extras: false };
      return route.fulfill({ json: { ...rest, run: unread, overview: { ...overview, complete: false } } });
    });
    await page.goto(new URL('/?source=0&run=counted', page.url()).href);
    await expect
      .poll(() => page.locator('.run-title .facts').innerText())
      .toContain('3,500 tokens (2,000 of them cached)');
    await page.context().close();
  });

  test('shows the usage up to the place pointed at on the strip', async () => {
    const page = await scene.open('/?source=0&run=counted');
    const strip = page.locator('.run-strip');
    await strip.waitFor();
    const box = await strip.boundingBox();
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) - 2, (box?.y ?? 0) + 10);
    await expect
      .poll(() => page.locator('.strip-row .place').innerText())
      .toContain('3,500 tokens so far, cached included');
    await page.context().close();
  });

  test('names the call that an equal one repeats, folds its result, and shows an edit as a diff', async () => {
    const page = await scene.open('/?source=0&run=edits');
    const again = page.locator('.row:has(.call-head)').nth(1);
    await expect.poll(() => again.locator('.call-head').innerText()).toContain('= call 1');
    await again.getByText('the same result as call 1').waitFor();
    expect(await again.locator('pre', { hasText: 'no rule' }).isVisible()).toBe(false);
    await expect.poll(() => page.locator('.diff .gone').innerText()).toContain('- return 1;');
    await expect.poll(() => page.locator('.diff .new').innerText()).toContain('+ return 2;');
    await expect.poll(() => page.locator('.diff').innerText()).toContain('keep');
    await page.context().close();
  });

  test('compares two runs of one task in three clicks', async () => {
    const page = await scene.open('/?page=runs&task=Look%20at%20it&sort=calls');
    await page.locator('.run-row').nth(1).waitFor();
    await page.locator('.run-row').first().click();
    await page.getByRole('link', { name: 'Compare', exact: true }).last().click();
    await page.getByText('Choose the run to compare with').waitFor();
    await expect.poll(() => page.locator('.run-row').count()).toBe(1);
    await page.locator('.run-row').click();
    await page.locator('.pair.line').first().waitFor();
    expect(new Set(await page.locator('.pair.names a').allInnerTexts())).toEqual(new Set(['edits', 'picture']));
    await page.getByRole('link', { name: 'Choose another' }).click();
    await page.getByRole('link', { name: 'All runs, of any task' }).click();
    await expect.poll(() => page.locator('.run-row').count()).toBeGreaterThan(2);
    await page.context().close();
  });

  test('compares a run whose task no other has with any run', async () => {
    const page = await scene.open('/?source=0&run=large');
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await page.getByText('Choose the run to compare with large.').waitFor();
    await expect.poll(() => page.locator('.run-row').count()).toBeGreaterThan(2);
    await page.goBack();
    await page.locator('.run-title').waitFor();
    await page.context().close();
  });

  test('compares two runs and goes from a row to the call', async () => {
    const page = await scene.open('/?page=compare&a=0/stuck-run&b=0/large');
    await page.getByText('They part at row 1').waitFor();
    await page.locator('.pair .cell').first().click();
    await page.locator('.row.is-selected').waitFor();
    await page.goto(`${new URL(scene.viewer.url).origin}/?page=compare&a=0/stuck-run&b=0/other-run`);
    await expect.poll(() => page.getByText('They do not differ.').count()).toBe(1);
    expect(await page.locator('.pair.names .tag').count()).toBe(2);
    const fold = page.getByRole('button', { name: /^\d+ equal calls$/ });
    await fold.click();
    await expect.poll(() => page.locator('.pair .cell').count()).toBeGreaterThan(20);
    expect(await fold.count()).toBe(0);
    await page.context().close();
  });

  test('opens a call by its number, labels it, and reports a run that the source does not have', async () => {
    const page = await scene.open('/?source=0&run=stuck-run&call=14');
    await page.locator('.row.is-selected').waitFor();
    await expect.poll(() => chosen(page)).toMatch(/Call\s+14[\s\S]*node check.mjs/);
    await answers(page, 'Call 14: fine.', () => page.keyboard.press('n'));
    await answers(page, 'Call 14 has no label now.', () => page.keyboard.press('u'));
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => chosen(page)).toMatch(/Call\s+15/);
    await page.goto(`${new URL(scene.viewer.url).origin}/?source=0&run=gone&call=1`);
    await expect.poll(() => page.getByText('there is no run gone').count()).toBe(1);
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
});
