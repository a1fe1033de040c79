import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import type { RunFacts } from '../../src/core/facts/run-facts.ts';
import { importSource } from '../../src/formats/import-source.ts';
import { readRuns } from '../../src/formats/read-runs.ts';
import type { RunAnswer, RunsAnswer } from '../../src/viewer/server/api-shapes.ts';
import { startViewer, type RunningViewer } from '../../src/viewer/server/start-viewer.ts';
import { runCli } from '../run-cli.ts';
import { sharedPath } from '../support/shared-data.ts';
import { testFolder } from '../support/test-folder.ts';

const SHARED = sharedPath('trajectories', 'claude-code-sessions');
const SESSIONS = SHARED ?? fileURLToPath(new URL('../../samples', import.meta.url));
const paths = (await readdir(SESSIONS))
  .filter((name) => /\.jsonl(\.gz)?$/.test(name))
  .map((name) => join(SESSIONS, name));

interface Facts {
  readonly ending: string;
  readonly calls: number;
  readonly errors: number;
  readonly costUsd: number | undefined;
  readonly lastAnswer: string;
}

type FactsOfRuns = Readonly<Record<string, Facts>>;

/** At a time. Most of the time of one is the pause before a file is looked at again. */
const VIEWERS = 8;

/** By the file of the run: two files may hold the same session. */
const keyOf = (source: string | undefined): string => basename(source ?? '').replace(/#.*$/, '');

async function lastAnswerIn(path: string): Promise<string> {
  let answer = '';
  for await (const item of readRuns(importSource(path), { source: path })) {
    if (item.type !== 'record' || item.run.depth > 0 || item.record.payload.kind !== 'message_appended') continue;
    const { message } = item.record.payload;
    const content = message.role === 'assistant' ? message.content : [];
    const parts = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
    const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    if (text.trim() !== '') answer = text.trim();
  }
  return answer;
}

async function reported(): Promise<FactsOfRuns> {
  const { stdout } = await runCli(['report', SESSIONS, '--json'], { cwd: testFolder() });
  const lines = stdout.split('\n').filter((line) => line !== '');
  // The last line has the totals. The cast is safe: the others are the facts of runs.
  const runs = lines.slice(0, -1).map((line) => JSON.parse(line) as RunFacts);
  const facts: Record<string, Facts> = {};
  for (const { calls, costUsd, errors, parentId, source, verdict } of runs) {
    if (parentId !== undefined) continue;
    const ending = `${verdict.verdict}: ${verdict.evidence}`;
    facts[keyOf(source)] = { ending, calls, errors, costUsd, lastAnswer: await lastAnswerIn(source) };
  }
  return facts;
}

async function shown(opened: readonly string[]): Promise<FactsOfRuns> {
  const folder = testFolder();
  const viewer = await startViewer({ paths: opened, port: 0, cacheFolder: folder, labels: join(folder, 'labels.csv') });
  try {
    const get = await client(viewer);
    let list = await get<RunsAnswer>('/api/runs?limit=1000');
    while (list.pending + list.notLookedAt > 0) {
      await sleep(100);
      list = await get<RunsAnswer>('/api/runs?limit=1000');
    }
    const facts: Record<string, Facts> = {};
    for (const { calls, costUsd, errors, evidence, from, runId, source, verdict } of list.runs) {
      // A subagent has the id of its session before its own.
      if (runId.includes('/')) continue;
      const address = `/api/runs/${source}/${encodeURIComponent(runId)}?again`;
      let { overview } = await get<RunAnswer>(address);
      while (!overview.complete) ({ overview } = await get<RunAnswer>(address));
      const lastAnswer = overview.lastAnswer?.text ?? '';
      facts[keyOf(from)] = { ending: `${verdict}: ${evidence}`, calls, errors, costUsd, lastAnswer };
    }
    return facts;
  } finally {
    await viewer.close();
  }
}

async function client({ url }: RunningViewer): Promise<<Answer>(path: string) => Promise<Answer>> {
  const { hash, origin } = new URL(url);
  const opened = await fetch(`${origin}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-coxswain': '1', origin },
    body: JSON.stringify({ token: new URLSearchParams(hash.slice(1)).get('token') }),
  });
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  return async <Answer>(path: string) => {
    const answer = await fetch(`${origin}${path}`, { headers: { cookie } });
    expect(answer.status).toBe(200);
    // The cast is safe: the viewer sends these types.
    return (await answer.json()) as Answer;
  };
}

describe(`the viewer and \`report --json\` over ${paths.length} sessions`, () => {
  const expected = reported();
  test.each([
    ['all are opened as a folder', [[SESSIONS]]],
    ['each is opened alone', paths.map((path) => [path])],
  ])('have the same endings, costs, calls, failures and last answers if %s', async (_how, openings) => {
    const facts: Record<string, Facts> = {};
    const left = openings[Symbol.iterator]();
    const openNext = async (): Promise<void> => {
      for (const opened of left) Object.assign(facts, await shown(opened));
    };
    await Promise.all(Array.from({ length: VIEWERS }, openNext));
    const report = await expected;
    expect(Object.keys(report)).toHaveLength(paths.length);
    expect(facts).toEqual(report);
  });
});
