import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import { projectStore, sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { createFakeClock } from '../src/testing/fake-clock.ts';
import { useStoresFolder } from './cli-stores.ts';
import { damageRecord } from './damage-record.ts';
import { jsonLines, runCli, sampleRun } from './run-cli.ts';
import { trustProject } from '../src/hosts/config/trust-project.ts';

const here = useStoresFolder();
const HOUR_S = 3_600;
const HOSTILE = 'a<script>alert(1)</script>"\u001b[31m\u202e&';

/** Two steered runs, one of this hour with a loop and a subagent, and one of yesterday. */
async function record(path: string): Promise<void> {
  const store = sqliteStore(join(here.cwd, path));
  const clock = createFakeClock(Date.now() - 30 * HOUR_S * 1_000);
  const cox = createCoxswain({ store, clock });
  const old = cox.startRun({ runId: 'old', task: 'yesterday' });
  old.emit({ type: 'agent_end', outcome: 'ended', success: true });
  clock.advance(29 * HOUR_S);
  const run = cox.startRun({ runId: 'night', task: HOSTILE });
  for (let index = 0; index < 12; index += 1) {
    const toolCallId = `c${index}`;
    const args = { command: 'make all' };
    run.emit({ type: 'turn_start' });
    run.emit({
      type: 'message_end',
      message: { role: 'assistant', content: 'again', usage: { inputTokens: 100, outputTokens: 10, costUsd: 0.01 } },
    });
    run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'bash', args });
    clock.advance(5);
    run.emit({
      type: 'tool_execution_end',
      toolCallId,
      toolName: 'bash',
      result: 'no rule for target all',
      isError: true,
    });
    for (const [at, piece] of run.advise('post_tool_result').entries()) {
      if (at === 0 && index < 6) piece.delivered('tool-result');
      else piece.undelivered('no channel');
    }
  }
  run.child({ runId: 'night/helper' }).emit({ type: 'agent_end', outcome: 'error' });
  await cox.close();
  await store.close();
}

test('a report counts runs, usage, advice and what followed it', async () => {
  const store = 'runs.db';
  await record(store);
  const { code, stderr, stdout } = await here.run(['report', store, '--since', '12h', '--json']);
  expect([code, stderr]).toEqual([0, '']);
  const lines = jsonLines(stdout);
  expect(lines.map(({ id }) => id)).toEqual(expect.arrayContaining(['night', 'night/helper']));
  const night = lines.find(({ id }) => id === 'night');
  expect(night).toMatchObject({ calls: 12, errors: 12, tokens: 1_320, stuck: true });
  expect(night?.['costUsd']).toBeCloseTo(0.12);
  expect(night).not.toHaveProperty('ending');
  const report = lines.at(-1);
  expect(report?.['totals']).toMatchObject({ runs: 2, below: 1, open: 1, stuck: 1, calls: 12, tokens: 1_320 });
  const advice = (report?.['advice'] ?? []) as readonly Readonly<Record<string, number | string>>[];
  expect(advice.length).toBeGreaterThan(0);
  for (const { delivered, pieces, undelivered } of advice) expect(Number(delivered) + Number(undelivered)).toBe(pieces);
  expect(report?.['moments']).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        runId: 'night',
        command: expect.stringMatching(/^coxswain view \S+ --run night --call \d+$/),
      }),
      expect.objectContaining({ runId: 'night/helper', what: 'ended with an error', score: 70 }),
    ]),
  );
  const all = jsonLines((await here.run(['report', store, '--json', '--since', 'all'])).stdout);
  expect(all.at(-1)?.['totals']).toMatchObject({ runs: 3, succeeded: 1 });
});

test('the command of a moment opens its call', async () => {
  await record('runs.db');
  const report = jsonLines((await here.run(['report', 'runs.db', '--json'])).stdout).at(-1);
  // As the command prints it; without any moment the command is wrong usage, which fails below.
  const [moment] = (report?.['moments'] ?? []) as readonly { readonly call: number; readonly command: string }[];
  let isOver = false;
  const args = [...(moment?.command.split(' ').slice(1) ?? []), '--no-open', '--port', '0'];
  const shown = await runCli(args, {
    cwd: here.cwd,
    onStdout: ({ all, interrupt }) => {
      if (isOver || !all.includes('Ctrl-C')) return;
      isOver = true;
      interrupt();
    },
  });
  expect(shown.code).toBe(0);
  expect(shown.stdout).toContain(`/?source=0&run=night&call=${moment?.call}#token=`);
});

test('without a path the project store is read, and an empty report names the time of the last run', async () => {
  await writeFile(join(here.cwd, 'coxswain.config.json'), JSON.stringify({ store: { address: 'mine.db' } }));
  trustProject(here.cwd, { env: process.env });
  await record('mine.db');
  const named = await here.run(['report', '--since', '2h', '--all']);
  expect(named.stdout).toContain('mine.db');
  expect(named.stdout).toContain('1 session, 1 subagent');
  const empty = await here.run(['report', '--since', '1s']);
  expect([empty.code, empty.stderr]).toEqual([0, expect.stringContaining('--since all')]);
  for (const since of ['yesterday', '2020-02-29', 'all']) {
    const { stdout } = await here.run(['--since', since]);
    expect(stdout).toMatch(/sessions?, 1 subagent/);
  }
  const wrong = await here.run(['--since', '2020-02-31']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('give a span such as 12h or 7d, a time')]);
  expect((await here.run(['report', '--json', '--html', 'x.html'])).code).toBe(2);
});

test('a store that is named is a named file: without --since all of its runs are reported', async () => {
  await writeFile(join(here.cwd, 'old.jsonl'), `${sampleRun('one', 'stuck')}\n`);
  await here.run(['analyze', 'old.jsonl', '--store', 'old.db', '--summary']);
  const [file, store, recent] = await Promise.all(
    [['old.jsonl'], ['old.db'], ['old.db', '--since', '12h']].map((args) => here.run(['report', ...args, '--json'])),
  );
  const count = (stdout = ''): unknown => jsonLines(stdout).at(-1)?.['totals'];
  expect(count(file?.stdout)).toMatchObject({ runs: 1 });
  expect(count(store?.stdout)).toMatchObject({ runs: 1 });
  expect(count(recent?.stdout)).toMatchObject({ runs: 0 });
});

test('a store that is named by its path has the project of its folder, and COXSWAIN_STORE is the store of a program too', async () => {
  await record('night.db');
  const named = await here.run(['report', 'night.db', '--json', '--by', 'project']);
  expect(jsonLines(named.stdout).map(({ project }) => project)).toContain(here.cwd);
  vi.stubEnv('COXSWAIN_STORE', join(here.cwd, 'night.db'));
  const store = projectStore();
  expect((await store.findRun('night'))?.runId).toBe('night');
  await store.close();
  vi.stubEnv('COXSWAIN_STORE', 'postgres://me:secret@db/x');
  expect(() => projectStore()).toThrow('COXSWAIN_STORE is no file: open it with openStore, got postgres://me:***@db/x');
  vi.unstubAllEnvs();
});

test('show names what went wrong in a provider', async () => {
  const store = sqliteStore(join(here.cwd, 'faults.db'));
  const broken = { name: 'Mine', shouldRun: () => true, provide: () => expect.unreachable() };
  const cox = createCoxswain({ store, feedback: [{ provider: broken, trigger: { everyNCalls: 1 } }] });
  const run = cox.startRun({ runId: 'broken' });
  await run.call('bash', { command: 'true' }, () => 'ok');
  expect(run.feedback()).toBeUndefined();
  await run.end();
  await cox.close();
  expect((await here.run(['show', 'broken', '--store', 'faults.db'])).stdout).toContain(
    'fault: Mine (provide): expected not to be reached',
  );
});

test('transcripts are reported, and unreadable files are named', async () => {
  await writeFile(join(here.cwd, 'runs.jsonl'), `${sampleRun('one', 'stuck')}\n${sampleRun('two', 'fine')}\n`);
  await writeFile(join(here.cwd, 'poem.txt'), 'roses are red\n');
  const { code, stderr, stdout } = await here.run(['report', 'runs.jsonl', 'poem.txt', '--all']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('poem.txt')]);
  expect(stdout).toContain('● run one');
  expect(stdout).toContain('· run two');
  expect(stdout).toMatch(/coxswain view runs\.jsonl --run \S+ --call \d+\n/);
});

test('a run that was stuck at its end has the same mark in every form of the report', async () => {
  await record('runs.db');
  const forms = await Promise.all([['--all'], ['--markdown']].map((form) => here.run(['report', 'runs.db', ...form])));
  for (const { stdout } of forms) expect(stdout).toMatch(/● .*script/);
  expect(forms[0]?.stdout).toContain('in all records');
  await here.run(['report', 'runs.db', '--html', 'stuck.html']);
  expect(await readFile(join(here.cwd, 'stuck.html'), 'utf8')).toContain('<span class="bad">stuck</span>');
});

test('the page escapes every text and has no script or external resource', async () => {
  await record('runs.db');
  expect((await here.run(['report', 'runs.db', '--html', 'a.html'])).code).toBe(0);
  const page = await readFile(join(here.cwd, 'a.html'), 'utf8');
  expect(page).toContain('a&lt;script&gt;alert(1)&lt;/script&gt;&quot;');
  expect(page).not.toMatch(/<script|<img|<link|https?:|url\(|\son\w+=|style="/i);
  // eslint-disable-next-line no-control-regex -- these must not be there
  expect(page).not.toMatch(/[\u001b\u202e]/);
  expect(page).toMatch(/Content-Security-Policy"\s+content="default-src 'none'; style-src 'sha256-/);
  const text = await here.run(['report', 'runs.db']);
  expect(text.stdout).not.toContain('\u001b');
});

test('the readable part of a damaged run is reported', async () => {
  await here.recorded('runs.db');
  damageRecord(join(here.cwd, 'runs.db'), 'beta', 100);
  const { code, stderr, stdout } = await here.run(['report', 'runs.db', '--since', 'all', '--json']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('run beta')]);
  const runs = jsonLines(stdout);
  expect(runs.find(({ id }) => id === 'beta')).toMatchObject({ problem: expect.any(String) });
  expect(runs.find(({ id }) => id === 'alpha')).not.toHaveProperty('problem');
});

test('of thousands of runs some are listed and all are added up', async () => {
  const lines = Array.from({ length: 2_000 }, (_, index) =>
    sampleRun(`run-${index}`, index % 4 === 0 ? 'stuck' : 'fine', 4),
  );
  await writeFile(join(here.cwd, 'many.jsonl'), lines.join('\n'));
  const { code, stdout } = await here.run(['report', 'many.jsonl']);
  expect(code).toBe(0);
  expect(stdout).toContain('2,000 sessions');
  expect(stdout).toMatch(/\n500 need you: 500 stuck\n/);
  expect(stdout).toContain('No end on record: 1,500');
});

test('a folder without a session says so, and what to try', async () => {
  await mkdir(join(here.cwd, 'empty'));
  await writeFile(join(here.cwd, 'empty', 'notes.txt'), 'buy milk');
  const { code, stderr, stdout } = await here.run(['report', 'empty']);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^No session in empty\.\nTry coxswain without a path [^\n]+\n$/),
  ]);
  expect(stderr).toBe(
    'coxswain: 1 file is not a trajectory and is left out; coxswain analyze --verbose gives the reasons\n',
  );
});

test('--until leaves out the runs whose last record is later, and a span of --since ends there', async () => {
  await record('runs.db');
  const idsOf = async (...options: readonly string[]): Promise<readonly unknown[]> =>
    jsonLines((await here.run(['report', 'runs.db', '--json', ...options])).stdout).flatMap(({ id }) => id ?? []);
  expect(await idsOf('--until', '2h', '--since', 'all')).toEqual(['old']);
  expect(await idsOf('--until', '2h', '--since', '20h')).toEqual([]);
  expect(await idsOf('--until', '2h', '--since', '48h')).toEqual(['old']);
  expect(await idsOf('--until', '1s', '--since', '2h')).toContain('night');
  // The time is named: it does not end now.
  expect((await here.run(['report', 'runs.db', '--since', '48h', '--until', '2h'])).stdout).toMatch(
    /from \d{4}-\d\d-\d\d \d\d:\d\d to \d{4}-\d\d-\d\d \d\d:\d\d/,
  );
  expect(
    (await here.run(['report', 'runs.db', '--since', '1h', '--until', 'yesterday', '--since', 'today'])).stderr,
  ).toContain('--since is not before --until');
  const wrong = await here.run(['report', 'runs.db', '--until', 'all']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--until all: give a span')]);
});
