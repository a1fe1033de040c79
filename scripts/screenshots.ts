/**
 * Takes the viewer screenshots in README and docs from the bundled sample run: replayed live with the standard steering, as
 * recorded, without its detours, cut off, and at work.
 *
 * `node scripts/screenshots.ts` writes `docs/images/*.png`; it needs Chromium.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { TrajectoryPayload } from '../src/core/records/trajectory-record.ts';
import { findChromium } from '../test/viewer/chromium.ts';
import { addRun, addSampleRun, sampleRecords, viewerScene } from '../test/viewer/viewer-scene.ts';

const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url));
/** The turns of the sample in which the agent is not looping. */
const STRAIGHT_TURNS = (turn: number): boolean => turn < 6 || turn >= 33;

interface Picture {
  readonly name: string;
  readonly path: string;
  /** Waits for this selector before taking the screenshot. */
  readonly ready: string;
  readonly height: number;
  /** Clicked before the screenshot, which shows the top of the page. */
  readonly click?: string;
}

const PICTURES: readonly Picture[] = [
  {
    name: 'viewer-runs',
    path: '/',
    ready: '.runs:not(:has-text("not read yet")) .run-row .tags .tag',
    height: 486,
  },
  {
    name: 'viewer-run',
    path: '/?source=0&run=steered-run',
    ready: '.row .call-head',
    height: 720,
    click: '.outline details:has(.mark.advice) button:has-text("Pattern")',
  },
];

const chromium = findChromium();
if (chromium === undefined) throw new Error('Chromium not found: install it, or set CHROMIUM to its path');
const sample = (await sampleRecords()).map(({ payload }) => payload);
const startMs = (await sampleRecords())[0]?.recorded_at_unix_ms ?? 0;
const scene = await viewerScene({
  chromium,
  fill: async (store) => {
    await addRun(store, 'straight-run', straight(sample), { startMs: startMs - 7_200_000 });
    await addRun(store, 'recorded-run', sample, { startMs: startMs - 3_600_000 });
    const cutOff = sample.slice(0, sample.length / 2);
    await addRun(store, 'cut-off-run', cutOff, { startMs: startMs - 10_800_000 });
    await addRun(store, 'live-run', cutOff, { startMs: Date.now() - cutOff.length * 1_000 });
    await addSampleRun(store, 'steered-run');
  },
});
try {
  mkdirSync(FOLDER, { recursive: true });
  for (const { click, height, name, path, ready } of PICTURES) {
    const page = await scene.open(path, {
      deviceScaleFactor: 1.25,
      viewport: { width: 1280, height },
      locale: 'en-US',
      timezoneId: 'UTC',
    });
    await page.locator(ready).first().waitFor();
    if (click !== undefined) {
      await page.locator(click).first().click();
      await page.waitForTimeout(800);
      await page.evaluate('scrollTo(0, 0)');
    }
    await page.waitForTimeout(600);
    await page.screenshot({ path: `${FOLDER}${name}.png` });
    await page.context().close();
    console.log(`docs/images/${name}.png`);
  }
} finally {
  await scene.close();
}

function straight(payloads: readonly TrajectoryPayload[]): readonly TrajectoryPayload[] {
  let turn = -1;
  return payloads.filter((payload) => {
    if (payload.kind === 'turn_started') turn += 1;
    return payload.kind === 'run_ended' || STRAIGHT_TURNS(turn);
  });
}
