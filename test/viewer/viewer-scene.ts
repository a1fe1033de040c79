import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

import { playSample } from '../../src/cli/commands/demo/sample-run.ts';
import type { TrajectoryRecord } from '../../src/core/records/trajectory-record.ts';
import { decodeRecord } from '../../src/core/records/decode-record.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { TrajectoryStore } from '../../src/core/store/trajectory-store.ts';
import { HANGS_AFTER_MS } from '../support/hangs-after.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { startViewer, type RunningViewer, type ViewerOptions } from '../../src/viewer/server/start-viewer.ts';
import { buildPage } from '../../scripts/build-page.ts';
import { launchChromium } from './chromium.ts';

const SAMPLE = fileURLToPath(new URL('../../samples/stuck-run.jsonl', import.meta.url));

/** A viewer over a store, seen by a browser. */
export interface ViewerScene {
  readonly folder: string;
  readonly file: string;
  /** The store behind it, to write to while it is looked at. */
  readonly store: TrajectoryStore;
  readonly viewer: RunningViewer;
  readonly browser: Browser;
  /** A new page with a session, at a path such as `/?run=…`. `faultsOf` has its errors. */
  readonly open: (path: string, options?: BrowserContextOptions) => Promise<Page>;
  readonly close: () => Promise<void>;
}

export interface SceneOptions {
  readonly chromium: string;
  /** Fills the store before the viewer starts. */
  readonly fill: (store: TrajectoryStore) => Promise<void>;
  /** Opened instead of the store. */
  readonly paths?: readonly string[];
  readonly viewer?: Omit<ViewerOptions, 'paths' | 'port' | 'pageFolder'>;
}

const faults = new WeakMap<Page, string[]>();

/** Console errors, exceptions and foreign requests of a page. */
export function faultsOf(page: Page): readonly string[] {
  return faults.get(page) ?? [];
}

/** Builds the page, starts a viewer over a new store, and a browser without a window. */
export async function viewerScene(options: SceneOptions): Promise<ViewerScene> {
  const temporary = await tempFolder();
  const folder = temporary.path;
  const file = join(folder, 'runs.db');
  const store = sqliteStore(file);
  await options.fill(store);
  await store.flush();
  const pageFolder = join(folder, 'page');
  await buildPage(pageFolder);
  const viewer = await startViewer({
    labels: join(folder, 'labels.csv'),
    ...options.viewer,
    paths: options.paths ?? [file],
    port: 0,
    pageFolder,
  });
  const browser = await launchChromium(options.chromium);
  return {
    folder,
    file,
    store,
    viewer,
    browser,
    open: async (path, contextOptions = {}) => {
      const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, ...contextOptions });
      context.setDefaultTimeout(HANGS_AFTER_MS);
      const page = await context.newPage();
      watch(page, viewer);
      const { origin, hash } = new URL(viewer.url);
      await page.goto(`${origin}${path}${hash}`);
      return page;
    },
    close: async () => {
      await browser.close();
      await viewer.close();
      await store.close();
      await temporary.dispose();
    },
  };
}

function watch(page: Page, viewer: RunningViewer): void {
  const found: string[] = [];
  faults.set(page, found);
  const { origin } = new URL(viewer.url);
  page.on('console', (message) => {
    if (message.type() === 'error') found.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => found.push(`thrown: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) found.push(`asked for: ${url}`);
  });
}

/** The records of the bundled sample. */
export async function sampleRecords(): Promise<readonly TrajectoryRecord[]> {
  const lines = (await readFile(SAMPLE, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => decodeRecord(JSON.parse(line)));
}

/** The bundled sample, played through a live run with the standard steering: it has patterns, and advice that is ignored. */
export async function addSampleRun(store: TrajectoryStore, runId = 'stuck-run'): Promise<void> {
  await playSample(await sampleRecords(), { store, runId, onEvent: async () => {}, ignoresAdvice: true });
}

/** Appends payloads as one run, a second apart. */
export async function addRun(
  store: TrajectoryStore,
  runId: string,
  payloads: readonly TrajectoryRecord['payload'][],
  options: { readonly fromSeq?: number; readonly startMs?: number; readonly parentRunId?: string } = {},
): Promise<void> {
  const { fromSeq = 0, startMs = Date.UTC(2026, 9, 12, 8), parentRunId } = options;
  const family = parentRunId === undefined ? { depth: 0 } : { depth: 1, parent_run_id: parentRunId };
  const records = payloads.map((payload, at): TrajectoryRecord => {
    const seq = fromSeq + at;
    const recorded_at_unix_ms = startMs + seq * 1_000;
    return Object.assign({ schema_version: 1, seq, run_id: runId, recorded_at_unix_ms, payload }, family);
  });
  for (let from = 0; from < records.length; from += 500) await store.append(records.slice(from, from + 500));
}

/** A run's first record. */
export function startOf(runId: string, task: string): TrajectoryRecord['payload'] {
  return { kind: 'run_started', identity: { run_id: runId, depth: 0 }, task };
}

/** One turn: what the agent said, a shell call, and what came back. */
export function shellTurn(at: number, command: string, result: string, isError = false): TrajectoryRecord['payload'][] {
  const id = `call-${at}`;
  return [
    { kind: 'turn_started' },
    {
      kind: 'message_appended',
      message: {
        role: 'assistant',
        content: [
          { type: 'text', text: `Step ${at}.` },
          { type: 'tool_call', id, name: 'bash', args: { command } },
        ],
      },
    },
    { kind: 'tool_started', tool_call_id: id, tool_name: 'bash', args: { command } },
    { kind: 'tool_ended', tool_call_id: id, tool_name: 'bash', result, is_error: isError },
  ];
}
