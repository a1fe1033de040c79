import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';

import { beforeEach, expect, test } from 'vitest';

import { makeConfiguration } from '../src/lab/configuration.ts';
import { EffectRowFold } from '../src/lab/effect-row.ts';
import { RunReplay } from '../src/lab/replay-shard.ts';
import { FiringKeys } from '../src/lab/run-row.ts';
import { runCommand } from '../src/cli/main.ts';
import { findStatus } from '../src/cli/commands/status/find-status.ts';
import { Terminal } from '../src/cli/terminal/terminal.ts';
import { encodeRecord } from '../src/core/records/decode-record.ts';
import { WORDS } from '../src/core/records/words.ts';
import { memoryStore } from '../src/core/store/memory-store.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import type { RunSummary } from '../src/core/facts/run-summary.ts';
import type { TrajectorySink } from '../src/core/store/trajectory-store.ts';
import { hardRuns, type RunFigures } from './hard-runs.ts';
import { sharedRunsIn } from '../src/viewer/server/shared-data.ts';
import { BUILT_PAGE } from './support/built-page.ts';
import { testFolder } from './support/test-folder.ts';
import type { CompareAnswer, Overview, RowsAnswer, RunAnswer } from '../src/viewer/server/api-shapes.ts';
import { startViewer } from '../src/viewer/server/start-viewer.ts';
import { jsonLines } from './run-cli.ts';
import { storeFileOf } from './user-state.ts';
import { openPage, type Page } from './viewer-client.ts';

type Read = Partial<RunFigures>;

const RUNS = hardRuns();
let folder: string;

beforeEach(async () => {
  folder = testFolder();
  const store = sqliteStore(storeFile());
  await record(store);
  await store.close();
  await mkdir(at('files'));
  for (const { id, records } of RUNS) {
    await writeFile(at(`files/${id}.jsonl`), records.map((one) => `${encodeRecord(one)}\n`).join(''));
  }
});

function storeFile(): string {
  return storeFileOf({ project: folder, env: { HOME: folder } });
}

function at(path: string): string {
  return join(folder, path);
}

async function record(store: TrajectorySink): Promise<void> {
  for (const { records } of RUNS) {
    // In parts, so that a driver has to go on from what it stored.
    for (let from = 0; from < records.length; from += 3) await store.append(records.slice(from, from + 3));
  }
}

/** Runs a command in this process and gives what it printed. */
async function printed(args: readonly string[], onText?: (all: string, terminal: Terminal) => void): Promise<string> {
  let all = '';
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      all += String(chunk);
      onText?.(all, terminal);
      done();
    },
  });
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal: Terminal = new Terminal({ stdout, stderr });
  await runCommand(args, { stdout, stderr }, terminal);
  return all;
}

/** Every difference between what a reader says and what was counted by hand: `run × reader × figure`. */
function differences(reader: string, readOf: ReadonlyMap<string, Read>): readonly string[] {
  return RUNS.flatMap(({ figures, id }) => {
    const read = readOf.get(id);
    if (read === undefined) return [`${id} × ${reader}: no answer`];
    return Object.entries(read).flatMap(([figure, value]) => {
      // The keys of a `Read` are those of the figures.
      const expected = JSON.stringify(figures[figure as keyof RunFigures]);
      const got = JSON.stringify(value);
      return got === expected ? [] : [`${id} × ${reader} × ${figure}: ${got}, expected ${expected}`];
    });
  });
}

async function each(read: (id: string) => Promise<Read>): Promise<ReadonlyMap<string, Read>> {
  const found = new Map<string, Read>();
  for (const { id } of RUNS) found.set(id, await read(id));
  return found;
}

function ofSummary({ calls, errors, outcome, reward, success, turns }: RunSummary): Read {
  return { calls, errors, turns, outcome: outcome ?? null, success: success ?? null, reward: reward ?? null };
}

/** The identifier that stands behind words. */
function idOf(table: keyof typeof WORDS, words: string): string | undefined {
  return Object.entries(WORDS[table]).find(([, said]) => said === words)?.[0];
}

/** `3 calls, 1 error, 2 turns, its source says that it worked (reward 1)`. Zero turns may be omitted. */
function ofFacts(text: string): Read {
  const count = (what: string): number => Number(new RegExp(`\\b(\\d+) ${what}s?\\b`).exec(text)?.[1] ?? '0');
  const facts = text.split(', ').map((fact) => fact.replace(/ \(.*/, '').trim());
  // The report's words for an end name no recorded outcome.
  const outcome = facts.flatMap((fact) => idOf('outcome', fact) ?? [])[0];
  const success = /\bit (did not work|worked|failed)\b/.exec(text)?.[1];
  const reward = /reward ([\d.]+)/.exec(text)?.[1];
  return {
    calls: count('call'),
    errors: count('error'),
    ...(outcome === undefined ? {} : { outcome }),
    success: success === undefined ? null : success === 'worked',
    reward: reward === undefined ? null : Number(reward),
  };
}

function kindsOf(patterns: readonly { readonly kind: string }[]): readonly string[] {
  return [...new Set(patterns.map(({ kind }) => kind))].toSorted();
}

interface JsonReport {
  readonly id: string;
  readonly calls: number;
  readonly errors: number;
  readonly turns: number;
  readonly ending?: { readonly outcome?: string; readonly success?: boolean; readonly reward?: number };
  readonly patterns: readonly { readonly kind: string }[];
  readonly advice?: { readonly pieces: number; readonly delivered: number };
  readonly tokens?: number;
  readonly costUsd?: number;
}

function ofReports(output: string): ReadonlyMap<string, Read> {
  // A line of `--json`; a test that is wrong about it fails on the members.
  const lines = jsonLines(output) as unknown as readonly JsonReport[];
  return new Map(
    lines.flatMap((line): readonly (readonly [string, Read])[] => {
      if (line.id === undefined) return [];
      const { advice, calls, costUsd = null, ending, errors, patterns, tokens = null, turns } = line;
      const { outcome: word = null, reward = null, success = null } = ending ?? {};
      const read: Read = { calls, errors, turns, outcome: word, success, reward, patterns: kindsOf(patterns) };
      const more: Read =
        advice === undefined ? {} : { advice: advice.pieces, delivered: advice.delivered, tokens, costUsd };
      return [[line.id, { ...read, ...more }]];
    }),
  );
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function ofOverview({ advice, calls, errors, patterns }: Overview): Read {
  return {
    calls: sum(calls),
    errors: sum(errors),
    patterns: kindsOf(patterns),
    advice: advice.length,
    delivered: advice.filter(({ delivered }) => delivered === true).length,
  };
}

async function ofViewer(page: Page, source: string): Promise<readonly string[]> {
  const list = await page.json<RowsAnswer>(`/api/rows?ids=${RUNS.map(({ id }) => `${source}/${id}`).join(',')}`);
  const rows = new Map(
    list.rows.map((row): readonly [string, Read] => [
      row.runId,
      {
        ...ofSummary({ ...row, source: '' }),
        patterns: (row.patterns ?? ['unknown']).toSorted(),
        advice: row.adviceCount ?? -1,
        tokens: row.tokens ?? null,
        costUsd: row.costUsd ?? null,
      },
    ]),
  );
  const heads = await each(async (id) => {
    const { run } = await page.json<RunAnswer>(`/api/runs/${source}/${id}`);
    return ofSummary({ ...run, source: '' });
  });
  const overviews = await each(async (id) =>
    ofOverview((await page.json<RunAnswer>(`/api/runs/${source}/${id}`)).overview),
  );
  const compared = await each(async (id) => {
    const { a } = await page.json<CompareAnswer>(`/api/compare?a=${source}/${id}&b=${source}/${id}`);
    return { calls: a.calls };
  });
  const exports = await each(async (id) => {
    const { text } = await page.get(`/api/runs/${source}/${id}/export.html`);
    const shared = (await sharedRunsIn(text)).at(-1);
    if (shared === undefined) throw new Error('the file holds the run');
    const { overview, run } = shared.answer;
    return { ...ofSummary({ ...run, source: '' }), ...ofOverview(overview) };
  });
  return [
    ...differences(`viewer ${source}: list`, rows),
    ...differences(`viewer ${source}: header`, heads),
    ...differences(`viewer ${source}: overview`, overviews),
    ...differences(`viewer ${source}: comparison`, compared),
    ...differences(`viewer ${source}: export`, exports),
  ];
}

test('every store lists the same figures for a run', async () => {
  const found: string[] = [];
  for (const store of [memoryStore(), sqliteStore(at('other.db'))]) {
    await record(store);
    const summaries = await each(async (id) => {
      const summary = await store.findRun(id);
      return summary === undefined ? {} : ofSummary(summary);
    });
    found.push(...differences('a store', summaries));
    const problems = await Array.fromAsync(store.verify?.() ?? []);
    expect(problems).toEqual([]);
    await store.close();
  }
  expect(found).toEqual([]);
});

test('every command gives the same figures for a run', async () => {
  const store = storeFile();
  const jsonRows = new Map(
    jsonLines(await printed(['runs', '--store', store, '--json', '--limit', '1000'])).map((line) => {
      // A line of `runs --json` is a summary.
      const summary = line as unknown as RunSummary;
      return [summary.runId, ofSummary(summary)] as const;
    }),
  );
  const textLines = (await printed(['runs', '--store', store, '--limit', '1000'])).split('\n');
  const textRows = new Map(
    textLines.flatMap((line, index) => {
      if (!/ calls?, /.test(line)) return [];
      // The id stands below the facts, or is the title of a run without a task.
      const indent = /^ */.exec(line)?.[0] ?? '';
      const below = textLines[index + 1] ?? '';
      const named = below.startsWith(`${indent}run `) ? below : (textLines[index - 1] ?? '');
      return [[/\brun (\S+)/.exec(named)?.[1] ?? '', ofFacts(line)] as const];
    }),
  );
  const shown = await each(async (id) => {
    const text = await printed(['show', id, '--store', store]);
    const kinds = [...text.matchAll(/^[A-Z] (.+?) {2}/gm)].map(([, words = '']) => ({
      kind: idOf('pattern', words) ?? words.replaceAll(' ', '_'),
    }));
    const facts = text.split('\n').find((line) => /^ {2}\d+ calls?, /.test(line)) ?? '';
    return { ...ofFacts(facts), patterns: kindsOf(kinds) };
  });
  const status = await each(async (id) => {
    const found = await findStatus(
      { CLAUDE_PROJECT_DIR: folder, HOME: folder, XDG_CONFIG_HOME: at('config') },
      JSON.stringify({ session_id: id }),
      0,
    );
    return found === undefined
      ? {}
      : { calls: found.calls, errors: found.errors, turns: found.turns, outcome: found.outcome };
  });
  const watched = await each(async (id) => {
    const args = ['watch', at(`files/${id}.jsonl`), '--json', '--no-wait', '--interval', '10'];
    const text = await printed(args, (all, terminal) => {
      if (all.includes('"type":"caught_up"')) terminal.interrupt();
    });
    const summary = jsonLines(text).findLast((line) => line['type'] === 'summary');
    return { calls: Number(summary?.['calls']) };
  });
  expect([
    ...differences('runs --json', jsonRows),
    ...differences('runs', textRows),
    ...differences('show', shown),
    ...differences('analyze', ofReports(await printed(['analyze', at('files'), '--json']))),
    ...differences('report of a store', ofReports(await printed(['report', store, '--since', 'all', '--json']))),
    ...differences('report of files', ofReports(await printed(['report', at('files'), '--json']))),
    ...differences('status', status),
    ...differences('watch', watched),
  ]).toEqual([]);
});

test('the viewer gives the same figures for a run of a store and of files', async () => {
  const viewer = await startViewer({ paths: [storeFile(), at('files')], port: 0, pageFolder: BUILT_PAGE });
  try {
    const page = await openPage(viewer);
    await page.json('/api/runs?limit=1000');
    for (const { id } of RUNS) {
      const runs = (): Promise<RowsAnswer> => page.json<RowsAnswer>(`/api/rows?ids=1/${id}`);
      while ((await runs()).rows[0]?.extras !== true) await page.json('/api/runs?limit=1000');
    }
    expect([...(await ofViewer(page, '0')), ...(await ofViewer(page, '1'))]).toEqual([]);
  } finally {
    await viewer.close();
  }
});

test('a backtest and the effect of advice rest on the same figures for a run', async () => {
  const configuration = await makeConfiguration({});
  const replayed = new Map<string, Read>();
  const effects = new Map<string, Read>();
  const open: string[] = [];
  for (const { id, records } of RUNS) {
    const replay = new RunReplay(id, [configuration], new FiringKeys());
    const effect = new EffectRowFold(id, { within: 10 });
    for (const one of records) {
      replay.fold(one);
      effect.fold(one);
    }
    const { calls, success } = replay.row();
    const { ended, pieces } = effect.row();
    if (!ended) open.push(id);
    const delivered = pieces.filter(({ delivery }) => delivery === 'delivered');
    replayed.set(id, { calls, success });
    effects.set(id, {
      advice: sum(pieces.map(({ count }) => count)),
      delivered: sum(delivered.map(({ count }) => count)),
    });
  }
  expect([...differences('backtest', replayed), ...differences('effect', effects)]).toEqual([]);
  expect(open).toEqual(RUNS.filter(({ figures }) => figures.outcome === null).map(({ id }) => id));
});
