/**
 * The viewer in a real Chromium: the time until a run of 100,000 records and a list of 10,000 runs are shown, and the tasks that block the
 * page while it scrolls from end to end. A task over 50 ms counts as long, the browsers' definition.
 *
 * Server, browser and this program share the machine, and server and program the process. The browser has been running for two seconds
 * when a run is opened, as a user's has.
 *
 * `npx node bench/viewer.bench.ts [RECORDS]`
 */
import { join } from 'node:path';

import type { Page } from 'playwright-core';

import { openSqliteReader } from '../src/stores/sqlite/sqlite-reader.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { tempFolder } from '../test/support/temp-folder.ts';
import { findChromium } from '../test/viewer/chromium.ts';
import { addLargeRun } from '../test/viewer/large-run.ts';
import { addRun, startOf, viewerScene, type ViewerScene } from '../test/viewer/viewer-scene.ts';

const RECORDS = Number(process.argv[2] ?? 100_000);
const RUNS = 10_000;
const STEPS = 150;
/** A browser that has just been launched is still starting its processes. */
const SETTLE_MS = 2_000;

/** Playwright looks every 500 ms whether an element is gone. The page itself notes when its strip is whole. */
const NOTE_STRIP = `new MutationObserver(() => {
  const isReading = document.querySelector('.banner')?.textContent.startsWith('Reading the run') ?? false;
  if (!isReading && document.querySelector('.run-strip') !== null) globalThis.stripAtMs ??= Date.now();
}).observe(document, { childList: true, subtree: true, characterData: true })`;

const chromium = findChromium();
if (chromium === undefined) {
  console.log('no Chromium on this machine');
  process.exit(0);
}
const folder = await tempFolder();
const file = join(folder.path, 'runs.db');
// Closed before the viewer starts: an open store would index its words in this process meanwhile.
const store = sqliteStore(file, { fsync: 'none' });
await addLargeRun(store, 'large', RECORDS);
for (let at = 0; at < RUNS; at += 1) await addRun(store, `run-${at}`, [startOf(`run-${at}`, `Task ${at}`)]);
await store.close();
const sceneOptions = {
  chromium,
  fill: async () => {},
  paths: [file],
  viewer: { cacheFolder: join(folder.path, 'cache') },
};
try {
  const readMs = await measureReading();
  const scene = await viewerScene(sceneOptions);
  try {
    await measureRun(scene, readMs);
    await measureList(scene);
  } finally {
    await scene.close();
  }
  const restarted = await viewerScene(sceneOptions);
  try {
    const page = await restarted.open('/?run=none');
    await page.waitForTimeout(SETTLE_MS);
    await measureOpening(restarted, page, { round: 'after a restart', readMs });
  } finally {
    await restarted.close();
  }
} finally {
  await folder.dispose();
}

async function measureReading(): Promise<number> {
  const reader = openSqliteReader(file);
  const readStarted = performance.now();
  for await (const record of reader.readRun('large')) void record;
  const readMs = performance.now() - readStarted;
  await reader.close();
  console.log(`read and parse the run: ${readMs.toFixed(0)} ms`);
  return readMs;
}

async function measureOpening(
  { viewer }: ViewerScene,
  page: Page,
  { round, readMs }: { readonly round: string; readonly readMs: number },
): Promise<void> {
  await page.addInitScript(NOTE_STRIP);
  const startedAtMs = Date.now();
  const started = performance.now();
  await page.goto(`${new URL(viewer.url).origin}/?source=0&run=large`);
  await page.locator('.row .call-head').first().waitFor();
  const rowsMs = performance.now() - started;
  await page.getByText('Reading the run:').waitFor({ state: 'detached' });
  const stripMs = performance.now() - started;
  await page.getByText('Looking for patterns').waitFor({ state: 'detached' });
  const exactMs = (await page.evaluate<number>('stripAtMs')) - startedAtMs;
  const wholeMs = performance.now() - started;
  const shown = (ms: number): string => `${ms.toFixed(0)} ms (${(ms / readMs).toFixed(2)} of that)`;
  console.log(
    `open a run of ${RECORDS} records, ${round}: its calls are seen after ${shown(rowsMs)}, its strip after ${shown(stripMs)}, by the clock of the page ${shown(exactMs)}, its patterns, advice and checks after ${shown(wholeMs)}`,
  );
}

async function measureRun(scene: ViewerScene, readMs: number): Promise<void> {
  const { open, viewer } = scene;
  const page = await open('/?run=none');
  await page.waitForTimeout(SETTLE_MS);
  const { origin } = new URL(viewer.url);
  for (const round of ['cold', 'warm']) await measureOpening(scene, page, { round, readMs });
  await report(page, 'scroll it from end to end', 'html', '.row:not(.is-waiting)');
  await reportInput(page, 'press j 40 times, then G and g', async () => {
    for (const key of [...Array.from({ length: 40 }, () => 'j'), 'G', 'g']) await page.keyboard.press(key);
  });
  await page.locator('.talk-rows').hover();
  await reportInput(page, 'turn the wheel 40 times by 2,000 pixels', async () => {
    for (let turn = 0; turn < 40; turn += 1) await page.mouse.wheel(0, 2_000);
  });
  const started = performance.now();
  await page.goto(`${origin}/?source=0&run=large&at=${Math.floor(RECORDS * 0.7)}`);
  await page.locator('.row.is-selected').waitFor();
  console.log(`open it at its 70 %: ${(performance.now() - started).toFixed(0)} ms`);
  const heapBytes = await page.evaluate<number>('performance.memory.usedJSHeapSize');
  console.log(`heap of the page after that: ${(heapBytes / 1_048_576).toFixed(0)} MB`);
  await page.context().close();
}

async function measureList({ open, viewer }: ViewerScene): Promise<void> {
  const page = await open('/?run=none');
  const started = performance.now();
  await page.goto(`${new URL(viewer.url).origin}/?page=runs`);
  await page.locator('.run-row').first().waitFor();
  console.log(`list of ${RUNS + 1} runs: ${(performance.now() - started).toFixed(0)} ms until rows are seen`);
  await report(page, 'scroll it from end to end', '.run-scroll', '.run-row');
  await page.context().close();
}

interface ScrollReport {
  /** Duration in milliseconds of each task over 50 ms. */
  readonly tasks: readonly number[];
  /** Steps after which no row was visible. */
  readonly blank: number;
  readonly tookMs: number;
}

/** Scrolls an element in steps and returns the longest task of the page. */
async function report(page: Page, what: string, scroller: string, row: string): Promise<void> {
  // A string, because it runs in the page and uses the page's globals.
  const { tasks, blank, tookMs } = await page.evaluate<ScrollReport>(`(async () => {
    const element = document.querySelector(${JSON.stringify(scroller)});
    const tasks = [];
    const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration)));
    observer.observe({ type: 'longtask' });
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const started = performance.now();
    let blank = 0;
    for (let step = 1; step <= ${STEPS}; step += 1) {
      element.scrollTop = ((element.scrollHeight - element.clientHeight) * step) / ${STEPS};
      await frame();
      await frame();
      if (element.querySelector(${JSON.stringify(row)}) === null) blank += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    observer.disconnect();
    return { tasks, blank, tookMs: performance.now() - started };
  })()`);
  const longest = Math.max(0, ...tasks);
  console.log(
    `${what} in ${STEPS} steps, ${tookMs.toFixed(0)} ms: ${tasks.length} tasks over 50 ms, the longest ${longest.toFixed(0)} ms; ${blank} steps at which every row was still being fetched`,
  );
}

/** Prints the longest task while a user's input is handled. */
async function reportInput(page: Page, what: string, input: () => Promise<void>): Promise<void> {
  // Strings, as above.
  await page.evaluate(`globalThis.longTasks = [];
    globalThis.taskObserver = new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((entry) => entry.duration)));
    taskObserver.observe({ type: 'longtask' });`);
  await input();
  await page.waitForTimeout(300);
  const tasks = await page.evaluate<readonly number[]>('taskObserver.disconnect(), longTasks');
  console.log(`${what}: ${tasks.length} tasks over 50 ms, the longest ${Math.max(0, ...tasks).toFixed(0)} ms`);
}
