import type { Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { TrajectoryRecord } from '../../src/core/records/trajectory-record.ts';
import type { RunAnswer } from '../../src/viewer/server/api-shapes.ts';
import { findChromium } from './chromium.ts';
import { addRun, faultsOf, shellTurn, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();

const SAID = [
  '## Plan',
  '',
  '1. Read **all** of it',
  '2. See [the docs](https://example.com/x) and ![a picture](https://example.com/y.png)',
  '',
  '<img src="https://example.com/z.png">',
  '',
  '```ts',
  'const answer = "forty-two";',
  '```',
].join('\n');

function messageOf(content: string): TrajectoryRecord['payload'] {
  return { kind: 'message_appended', message: { role: 'assistant', content } };
}

describe.skipIf(chromium === undefined)('the conversation (needs a Chromium)', () => {
  let scene: ViewerScene;

  beforeAll(async () => {
    scene = await viewerScene({
      chromium: chromium ?? '',
      fill: async (store) => {
        const polls = Array.from({ length: 5 }, (_, at) => shellTurn(at, 'make check', 'make: no rule', true)).flat();
        const near = [10, 20].flatMap((lines, at) => shellTurn(10 + at, `tail -n ${lines} /var/log/server.log`, 'x'));
        await addRun(store, 'stretch', [startOf('stretch', 'Build it'), ...polls, ...near]);
        const unflagged = Array.from({ length: 9 }, (_, at) =>
          shellTurn(at, `list ${at}`, '/bin/bash: line 3: list: command not found', at !== 6),
        ).flat();
        await addRun(store, 'unflagged', [startOf('unflagged', 'List it'), ...unflagged]);
        await addRun(store, 'words', [
          startOf('words', 'Say it'),
          messageOf(SAID),
          ...shellTurn(0, 'npm test', '\u001b[31mred\u001b[0m and \u001b[1;32mgreen\u001b[0m'),
          { kind: 'tool_started', tool_call_id: 'r', tool_name: 'read_file', args: { path: 'a.ts' } },
          {
            kind: 'tool_ended',
            tool_call_id: 'r',
            tool_name: 'read_file',
            result: "export const name = 'a';",
            is_error: false,
          },
        ]);
      },
    });
  });
  afterAll(() => scene.close());

  test('folds equal calls in a row into one, unfolds them on demand and around a chosen one', async () => {
    const page = await scene.open('/?source=0&run=stretch');
    const fold = page.getByRole('button', { name: '4 more calls, the same with the same result' });
    await fold.waitFor();
    const calls = page.locator('.call-head', { hasText: 'make check' });
    await expect.poll(() => calls.count()).toBe(1);
    await expect.poll(() => page.locator('.row', { has: fold }).innerText()).toMatch(/2–5/);
    await fold.click();
    await expect.poll(() => calls.count()).toBe(5);
    await page.getByRole('button', { name: 'Fold these 4 equal calls' }).click();
    await expect.poll(() => calls.count()).toBe(1);
    await page.keyboard.press('G');
    await page.goto(`${page.url().replace(/#.*/, '')}&at=15`);
    await expect.poll(() => page.locator('.row.is-selected').innerText()).toContain('make check');
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('marks the difference from a similar previous call', async () => {
    const page = await scene.open('/?source=0&run=stretch');
    await expect.poll(() => page.locator('.changed').allInnerTexts()).toEqual(['1', '2']);
    await expect.poll(() => page.getByText('like call 6').count()).toBe(1);
    await page.context().close();
  });

  test('folds calls in a row that failed with the same line, and says how many and what differs', async () => {
    const page = await scene.open('/?source=0&run=unflagged');
    const fold = page.locator('.stretch');
    await expect
      .poll(() => fold.innerText())
      .toMatch(/8 more calls, the same failure: \/bin\/bash: line #: list.* · 8 messages between them/);
    await expect.poll(() => fold.innerText()).toContain('other arguments: list 1 · list 2 · list 3 · list 4 · 4 more');
    await page.getByText('Compare the arguments').click();
    await expect
      .poll(() => page.locator('.argument-changes li').allInnerTexts())
      .toEqual(['list 0', ...Array.from({ length: 8 }, (_, at) => `list ${at}${at + 1}`)]);
    const calls = page.locator('.call-head', { hasText: 'list ' });
    await expect.poll(() => calls.count()).toBe(1);
    await fold.click();
    await expect.poll(() => calls.count()).toBeGreaterThan(4);
    await page.getByRole('button', { name: 'Fold these 8 calls with the same failure' }).waitFor();
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('counts an error line among the calls, because a result without an error flag may have it too', async () => {
    const page = await scene.open('/?source=0&run=unflagged');
    await expect.poll(() => page.locator('.story').innerText()).toContain('9 of 9 calls: /bin/bash: line #:');
    await page.context().close();
  });

  test('counts an error line of a run that was not read in time for the first response', async () => {
    const page = await scene.open('/?page=runs');
    await page.locator('.run-row').first().waitFor();
    const answerEarly = async (route: Route): Promise<void> => {
      const response = await route.fetch();
      // The response of our own server.
      const { overview, run, ...rest } = (await response.json()) as RunAnswer;
      const { errorLine: _errorLine, ...early } = { ...run, extras: false };
      await route.fulfill({ response, json: { ...rest, run: early, overview: { ...overview, complete: false } } });
    };
    await page.route(/\/api\/runs\/0\/unflagged$/, answerEarly, { times: 1 });
    await page.goto(new URL('/?source=0&run=unflagged', page.url()).href);
    await expect.poll(() => page.locator('.story').innerText()).toContain('9 of 9 calls: /bin/bash: line #:');
    await page.context().close();
  });

  test('shows Markdown, terminal colours and code without a link, a foreign picture or an inline style', async () => {
    const page = await scene.open('/?source=0&run=words');
    const message = page.locator('.talk .markdown').first();
    await message.waitFor();
    await expect.poll(() => message.locator('ol > li').count()).toBe(2);
    await expect.poll(() => message.locator('strong').innerText()).toBe('all');
    expect(await message.locator('a, img').count()).toBe(0);
    await expect.poll(() => message.innerText()).toContain('the docs (https://example.com/x)');
    await expect.poll(() => message.innerText()).toContain('<img src=');
    await expect.poll(() => message.locator('.token-string-expression, .token-string').count()).toBeGreaterThan(0);
    await expect.poll(() => page.locator('.ansi-red').allInnerTexts()).toEqual(['red']);
    await expect.poll(() => page.locator('.ansi-green.ansi-bold').allInnerTexts()).toEqual(['green']);
    await expect.poll(() => page.locator('.output .token-keyword').count()).toBeGreaterThan(0);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('colours code also on a processor that takes long for its first line', async () => {
    const page = await scene.open('/?source=0');
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: 20 });
    await page.goto(`${new URL(scene.viewer.url).origin}/?source=0&run=words`);
    await expect.poll(() => page.locator('.output .token-keyword').count()).toBeGreaterThan(0);
    await expect.poll(() => page.locator('.markdown .token-string-expression').count()).toBeGreaterThan(0);
    await page.context().close();
  });
});
