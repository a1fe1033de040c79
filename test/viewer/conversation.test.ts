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

function callOf(id: string, name: string, args: Record<string, unknown>, result: string, isError = false) {
  return [
    { kind: 'tool_started', tool_call_id: id, tool_name: name, args },
    { kind: 'tool_ended', tool_call_id: id, tool_name: name, result, is_error: isError },
  ] as TrajectoryRecord['payload'][];
}

/** Four reads, a build and a failed test, with the cost of one response. */
function linesRun(): TrajectoryRecord['payload'][] {
  const reads = ['a.ts', 'b.ts', 'a.ts', 'c.ts'].map((path, at) =>
    callOf(`r${at}`, 'read_file', { path: `src/${path}`, at }, 'text'),
  );
  return [
    startOf('lines', 'Read it'),
    { kind: 'message_appended', message: { role: 'assistant', content: 'I read.', usage: { cost_usd: 0.25 } } },
    ...reads.flat(),
    ...callOf('b', 'bash', { command: 'npm run build' }, 'built in 3 s'),
    ...callOf('t', 'bash', { command: 'npm test nothing' }, 'no such test', true),
  ];
}

function partsRun(): TrajectoryRecord['payload'][] {
  const said = (role: 'user' | 'assistant', content: string): TrajectoryRecord['payload'] => ({
    kind: 'message_appended',
    message: { role, content },
  });
  const thought = `I think.${'\n\nAnd think.'.repeat(20)}\n\nThis is the end of the thought.`;
  const todos = [
    { content: 'Look', status: 'completed' },
    { content: 'Mend', status: 'in_progress' },
  ];
  const questions = [{ question: 'Which one?', options: [{ label: 'this' }, { label: 'that' }] }];
  return [
    startOf('parts', 'Mend it'),
    said('user', 'Mend the build\nIt is broken.'),
    said('user', '<command-message>review</command-message>\n<command-name>/review</command-name>'),
    { kind: 'message_appended', message: { role: 'assistant', content: [{ type: 'reasoning', text: thought }] } },
    ...callOf('p', 'TodoWrite', { todos }, 'ok'),
    ...callOf('q', 'AskUserQuestion', { questions }, 'this'),
    said('assistant', Array.from({ length: 60 }, (_, at) => `paragraph ${at}`).join('\n\n')),
  ];
}

describe.skipIf(chromium === undefined)('the conversation (needs a Chromium)', () => {
  let scene: ViewerScene;

  beforeAll(async () => {
    scene = await viewerScene({
      chromium: chromium ?? '',
      fill: async (store) => {
        const polls = Array.from({ length: 5 }, (_, at) => shellTurn(at, 'make check', 'make: no rule', true)).flat();
        await addRun(store, 'stretch', [startOf('stretch', 'Build it'), ...polls]);
        const unflagged = Array.from({ length: 9 }, (_, at) =>
          shellTurn(at, `list ${at}`, '/bin/bash: line 3: list: command not found', at !== 6),
        ).flat();
        await addRun(store, 'unflagged', [startOf('unflagged', 'List it'), ...unflagged]);
        await addRun(store, 'lines', linesRun());
        await addRun(store, 'parts', partsRun());
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
    const fold = page.getByRole('button', {
      name: '4 more calls, the same with the same result · 4 messages between them',
    });
    await fold.waitFor();
    const calls = page.locator('.call-head', { hasText: 'make check' });
    await expect.poll(() => calls.count()).toBe(1);
    await expect.poll(() => page.locator('.row', { has: fold }).innerText()).toMatch(/2–5/);
    await fold.click();
    await expect.poll(() => calls.count()).toBe(5);
    await fold.click();
    await expect.poll(() => calls.count()).toBe(1);
    await page.goto(`${page.url().replace(/#.*/, '')}&at=15`);
    await expect.poll(() => page.locator('.row.is-selected').innerText()).toContain('make check');
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('folds calls in a row that failed with the same line, and says how many', async () => {
    const page = await scene.open('/?source=0&run=unflagged');
    const fold = page.locator('.fold-line');
    await expect
      .poll(() => fold.innerText())
      .toMatch(/8 more calls, the same failure: \/bin\/bash: line #: list.* · 8 messages between them/);
    const calls = page.locator('.call-head', { hasText: 'list ' });
    await expect.poll(() => calls.count()).toBe(1);
    await fold.click();
    await expect.poll(() => calls.count()).toBeGreaterThan(4);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('reads in a row are one line with the names of the files, a call is one line until it is clicked, and a failed one is open', async () => {
    const page = await scene.open('/?source=0&run=lines');
    await expect.poll(() => page.locator('.fold-line').innerText()).toBe('4 reads: a.ts ×2, b.ts, c.ts');
    const call = page.locator('.row', { hasText: 'npm run build' });
    await expect.poll(() => page.locator('.row.is-failed').innerText()).toContain('no such test');
    expect(await call.innerText()).not.toContain('built in');
    await call.locator('.call-head').click();
    await expect.poll(() => call.innerText()).toContain('built in 3 s');
    await call.getByRole('button', { name: 'Fold the call' }).click();
    await expect.poll(() => call.innerText()).not.toContain('built in');
    expect(await page.locator('.turn-cost', { hasText: '$0.25' }).count()).toBe(1);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('a prompt is a heading, a slash command a chip, a thought one line, a plan a list, and a long answer stands in full', async () => {
    const page = await scene.open('/?source=0&run=parts');
    await page.getByRole('heading', { name: 'Mend the build' }).waitFor();
    await expect.poll(() => page.locator('h3 kbd').innerText()).toBe('/review');
    expect(await page.getByText('the end of the thought').isVisible()).toBe(false);
    await page.locator('.thought summary').click();
    await page.getByText('the end of the thought').waitFor();
    await expect
      .poll(() => page.locator('.steps li').allInnerTexts())
      .toEqual(['☑ Look', '▸ Mend', '? Which one? (this · that)']);
    // Once as the last answer, and once in its place.
    await expect.poll(() => page.getByText('paragraph 59').count()).toBe(2);
    expect(await page.getByText(/more lines/).count()).toBe(0);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('counts an error line among the calls, because a result without an error flag may have it too', async () => {
    const page = await scene.open('/?source=0&run=unflagged');
    await expect.poll(() => page.locator('.story').innerText()).toContain('9 of 9 calls: /bin/bash: line 3:');
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
    await expect.poll(() => page.locator('.story').innerText()).toContain('9 of 9 calls: /bin/bash: line 3:');
    await page.context().close();
  });

  test('shows Markdown, terminal colours and code without a link, a foreign picture or an inline style', async () => {
    const page = await scene.open('/?source=0&run=words');
    const message = page.locator('.talk-rows .markdown').first();
    await message.waitFor();
    await expect.poll(() => message.locator('ol > li').count()).toBe(2);
    await expect.poll(() => message.locator('strong').innerText()).toBe('all');
    expect(await message.locator('a, img').count()).toBe(0);
    await expect.poll(() => message.innerText()).toContain('the docs (https://example.com/x)');
    await expect.poll(() => message.innerText()).toContain('<img src=');
    await expect.poll(() => message.locator('.token-string-expression, .token-string').count()).toBeGreaterThan(0);
    for (const name of ['npm test', 'a.ts']) await page.locator('.call-head', { hasText: name }).click();
    await expect.poll(() => page.locator('.ansi-red').allInnerTexts()).toEqual(['red']);
    await expect.poll(() => page.locator('.ansi-green.ansi-bold').allInnerTexts()).toEqual(['green']);
    await expect.poll(() => page.locator('.output .token-keyword').count()).toBeGreaterThan(0);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('colours code also on a processor that takes long for its first line', async () => {
    const page = await scene.open('/?source=0');
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await page.goto(`${new URL(scene.viewer.url).origin}/?source=0&run=words`);
    await page.locator('.call-head', { hasText: 'a.ts' }).dispatchEvent('click');
    await expect.poll(() => page.locator('.output .token-keyword').count()).toBeGreaterThan(0);
    await expect.poll(() => page.locator('.markdown .token-string-expression').count()).toBeGreaterThan(0);
    await page.context().close();
  });
});
