import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, expect, test } from 'vitest';

import type { ListedRow, RunAnswer, RunsAnswer } from '../src/viewer/server/api-shapes.ts';
import { startViewer, type RunningViewer } from '../src/viewer/server/start-viewer.ts';
import { openPage, type Page } from './viewer-client.ts';
import { runCli } from './run-cli.ts';
import { sharedPath } from './support/shared-data.ts';

const SESSIONS = sharedPath('trajectories', 'claude-code-sessions') ?? '';

/** What a report says about a run, as far as the viewer says it too. */
interface Reported {
  readonly id: string;
  readonly verdict: { readonly verdict: string; readonly evidence: string };
  readonly ending?: { readonly outcome: string; readonly success?: boolean };
  readonly costUsd?: number;
  readonly calls: number;
  readonly errors: number;
  readonly lastMessage?: string;
}

let viewer: RunningViewer | undefined;

afterEach(async () => viewer?.close());

async function reportOn(path: string): Promise<readonly Reported[]> {
  const { stdout } = await runCli(['report', '--json', '--since', 'all', path], { cwd: SESSIONS });
  // The format of our own command; its last line has the totals.
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Partial<Reported>);
  return lines.filter((line): line is Reported => line.id !== undefined && line.calls !== undefined);
}

async function view(path: string): Promise<Page> {
  await viewer?.close();
  viewer = await startViewer({ paths: [path], port: 0 });
  return openPage(viewer);
}

/** The rows when all files and runs have been read. */
async function rowsOf(page: Page): Promise<readonly ListedRow[]> {
  for (;;) {
    const answer = await page.json<RunsAnswer>('/api/runs?limit=1000&sort=cost');
    if (answer.pending === 0 && answer.total > 0) return answer.runs;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The differences between what the list and the page of a run say and what the report says. */
async function differencesOf(page: Page, row: ListedRow, reported: Reported | undefined): Promise<readonly string[]> {
  const path = `/api/runs/${row.source}/${encodeURIComponent(row.runId)}`;
  let { overview } = await page.json<RunAnswer>(path);
  while (!overview.complete) ({ overview } = await page.json<RunAnswer>(path));
  const start = (text: string | undefined): string | undefined => text?.slice(0, 200);
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['ending', [row.outcome, row.success], [reported?.ending?.outcome, reported?.ending?.success]],
    ['verdict', [row.verdict, row.evidence], [reported?.verdict.verdict, reported?.verdict.evidence]],
    ['cost', row.costUsd?.toFixed(6), reported?.costUsd?.toFixed(6)],
    ['calls', [row.calls, row.errors], [reported?.calls, reported?.errors]],
    ['last answer', start(overview.lastAnswer?.text), start(reported?.lastMessage)],
  ];
  return pairs
    .filter(([, shown, expected]) => JSON.stringify(shown) !== JSON.stringify(expected))
    .map(
      ([name, shown, expected]) =>
        `${row.runId} ${name}: ${JSON.stringify(shown)} instead of ${JSON.stringify(expected)}`,
    );
}

test.skipIf(SESSIONS === '')(
  'the ending, cost, calls and last answer of real sessions are those of the report, with all files open and with one (needs ../shared)',
  async () => {
    const reported = new Map((await reportOn(SESSIONS)).map((run) => [run.id, run]));
    const all = await view(SESSIONS);
    const rows = await rowsOf(all);
    expect(rows.length).toBe(reported.size);
    const differences: string[] = [];
    for (const row of rows) differences.push(...(await differencesOf(all, row, reported.get(row.runId))));
    // With one file open it is followed, which holds nothing back.
    for (const name of (await readdir(SESSIONS)).filter((file) => file.includes('.jsonl')).slice(0, 8)) {
      const one = await view(join(SESSIONS, name));
      for (const row of await rowsOf(one)) {
        const run = reported.get(row.runId);
        if (run !== undefined) differences.push(...(await differencesOf(one, row, run)));
      }
    }
    expect(differences).toEqual([]);
  },
);
