import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { TrajectoryPayload } from '../../src/core/records/trajectory-record.ts';
import { findChromium } from './chromium.ts';
import { addRun, faultsOf, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();

const OUTSIDE = 'http://127.0.0.1:9/stolen';
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SVG = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='owned'"><image href="${OUTSIDE}"/></svg>`,
);

/** Texts that would do something if they were anything but text. */
const HOSTILE = [
  `<script>document.title = 'owned'</script>`,
  `<img src="${OUTSIDE}" onerror="document.title='owned'">`,
  `<svg onload="document.title='owned'"><use href="${OUTSIDE}#a"/></svg>`,
  `<iframe src="${OUTSIDE}"></iframe><link rel="stylesheet" href="${OUTSIDE}"><base href="${OUTSIDE}">`,
  `<style>@import url(${OUTSIDE}); body { display: none }</style>`,
  `![picture](${OUTSIDE}) [link](javascript:document.title='owned') ${OUTSIDE}`,
  `</pre></div><form action="${OUTSIDE}"><button>Press</button></form>`,
  `\u001b]8;;${OUTSIDE}\u0007click\u001b]8;;\u0007 \u001b[2J\u001b[31mred\u001b[0m`,
  'before \u202eseirotcer eteled\u202c after \u2066hidden\u2069 zero\u200bwidth \ufeff\u0000\u0007',
  '{{constructor.constructor("document.title=1")()}} ${document.title} {"$cut":{"chars":9,"preview":"<b>"}}',
].join('\n');

const NAME = `bash<img src=${OUTSIDE} onerror=document.title='owned'>\u202e`;
const RUN = `../../<b>run</b>?x=1&y="#%00`;

function hostileRun(): readonly TrajectoryPayload[] {
  const image = (media_type: string, data_base64: string): unknown => ({ type: 'image', media_type, data_base64 });
  const content = [
    { type: 'text', text: HOSTILE },
    { type: 'reasoning', text: HOSTILE },
    image('image/png', PNG),
    image('image/svg+xml', SVG.toString('base64')),
    image('image/png', SVG.toString('base64')),
    image('text/html', Buffer.from(HOSTILE).toString('base64')),
    { type: 'image', media_type: 'image/png', url: OUTSIDE },
    { type: 'other', value: { html: HOSTILE } },
  ];
  const id = `call"><script>`;
  // As a source may hold it: whatever stands in it has no say here.
  return [
    { ...startOf(RUN, HOSTILE), source: HOSTILE, format: NAME },
    { kind: 'message_appended', message: { role: 'user', content: HOSTILE } },
    { kind: 'turn_started' },
    { kind: 'message_appended', message: { role: 'assistant', content, error_message: HOSTILE, model_id: HOSTILE } },
    { kind: 'tool_started', tool_call_id: id, tool_name: NAME, args: { [HOSTILE]: HOSTILE, command: HOSTILE } },
    { kind: 'tool_ended', tool_call_id: id, tool_name: NAME, result: HOSTILE, is_error: true },
    {
      kind: 'pattern_flagged',
      cause_seq: 5,
      ordinal: 0,
      pattern: {
        kind: HOSTILE,
        identity: HOSTILE,
        stuck: true,
        level: 'strong',
        confidence: 1,
        tool: NAME,
        subject: HOSTILE.slice(0, 80),
        evidence: [0],
        firstSeen: 0,
        flaggedAt: 0,
        occurrences: 3,
      },
    },
    {
      kind: 'guidance_produced',
      cause_seq: 5,
      ordinal: 1,
      advice_id: HOSTILE,
      provider_name: NAME,
      injection: { key: 'a', content: HOSTILE, priority: 1, category: HOSTILE },
      decision_point: 'pre_tool_selection',
      classification: { relevant: true, confidence: 1, reason: HOSTILE },
    },
    {
      kind: 'fault_noticed',
      where: HOSTILE,
      message: HOSTILE,
    },
    { kind: 'unrecognised', original: { kind: HOSTILE, html: HOSTILE } },
    { kind: 'run_ended', outcome: HOSTILE, new_messages: [] },
  ] as readonly TrajectoryPayload[];
}

/** Elements and attributes that a page must not contain. */
const INERT = { faults: [], isOwned: false, elements: 0, links: [], images: [], handlers: 0, unseen: 0 };

/** The forbidden elements and attributes on the page. */
async function activeParts(
  page: Page,
): Promise<Readonly<Record<string, unknown>> & { readonly faults: readonly string[] }> {
  const found = await page.evaluate<Readonly<Record<string, unknown>>>(`(() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    return {
      elements: all('#app script, #app iframe, #app style, #app link, #app base, #app form[action], #app object, #app embed').length,
      links: all('a').map((link) => link.href).filter((href) => !href.startsWith(location.origin + '/')),
      images: all('#app img').map((image) => image.src.slice(0, 22)).filter((source) => source !== 'data:image/png;base64,'),
      handlers: all('#app *').filter((element) => element.getAttributeNames().some((name) => name.startsWith('on'))).length,
      unseen: (document.body.innerText.match(/[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]/g) ?? []).length,
    };
  })()`);
  return { ...found, faults: faultsOf(page), isOwned: !(await page.title()).endsWith(' · coxswain') };
}

describe.skipIf(chromium === undefined)('a run of hostile text (needs a Chromium)', () => {
  let scene: ViewerScene;
  const address = new URLSearchParams({ source: '0', run: RUN }).toString();

  beforeAll(async () => {
    scene = await viewerScene({
      chromium: chromium ?? '',
      fill: async (store) => {
        await addRun(store, RUN, hostileRun());
        await addRun(store, 'other', hostileRun());
      },
    });
  });
  afterAll(() => scene.close());

  test('is inert in the list', async () => {
    const page = await scene.open('/?page=runs');
    await page.locator('.run-row').nth(1).waitFor();
    expect(await activeParts(page)).toEqual(INERT);
    await page.context().close();
  });

  test('is inert in the conversation and makes no requests', async () => {
    const page = await scene.open(`/?${address}`);
    await page.locator('.row').first().waitFor();
    const outline = page.getByRole('navigation', { name: 'Outline' });
    let images = 0;
    for (let share = 0; share <= 20; share += 1) {
      await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight * ${share / 20})`);
      await page.waitForTimeout(50);
      // Everything that can be unfolded is.
      await page.evaluate(
        `document.querySelectorAll('.talk [aria-expanded=false], .talk details:not([open]) summary').forEach((e) => e.click())`,
      );
      images += await page.locator('#app img').count();
      expect(await activeParts(page)).toEqual(INERT);
    }
    expect(images).toBeGreaterThan(0);
    expect(await page.getByText('⟨U+202E⟩').count()).toBeGreaterThan(0);
    for (const part of ['Advice', 'State']) {
      await outline.locator('details, section', { hasText: part }).getByRole('button').first().click();
      await page.locator('.card').first().waitFor();
      expect(await activeParts(page)).toEqual(INERT);
    }
    expect(await activeParts(page)).toEqual(INERT);
    await page.context().close();
  });

  test('is inert in a comparison', async () => {
    const page = await scene.open(
      `/?${new URLSearchParams({ page: 'compare', a: `0/${RUN}`, b: '0/other' }).toString()}`,
    );
    await page
      .getByRole('button', { name: /equal calls/ })
      .or(page.locator('.pair .cell'))
      .first()
      .waitFor();
    expect(await activeParts(page)).toEqual(INERT);
    await page.context().close();
  });

  test('is inert as the run of an address', async () => {
    const page = await scene.open(
      `/?${new URLSearchParams({ source: '0', run: HOSTILE.replaceAll('\u0000', ''), call: '3' })}`,
    );
    await page.getByText('there is no run').waitFor();
    // That the run is not there was an answer of the server, which the browser notes.
    const { faults, ...parts } = await activeParts(page);
    expect({ ...parts, faults: faults.filter((fault) => !fault.includes('404')) }).toEqual(INERT);
    await page.context().close();
  });

  test('is inert as a search text', async () => {
    const page = await scene.open(`/?${new URLSearchParams({ q: HOSTILE.slice(0, 200), pattern: NAME }).toString()}`);
    await page.getByText('No run matches').waitFor();
    expect(await activeParts(page)).toEqual(INERT);
    await page.context().close();
  });
});
