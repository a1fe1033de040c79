import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';

import { sharedPath } from './support/shared-data.ts';
import { jsonLines, runCli, sampleRun, spawnCli } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';

const cwd = tmpdir();

test.each([[[]], [['analyze']], [['runs']], [['show']], [['watch']], [['demo']]])(
  '%j --help prints help with an example and leaves with 0',
  async (command) => {
    const { code, stdout, stderr } = await runCli([...command, '--help'], { cwd });
    expect([code, stderr]).toEqual([0, '']);
    expect(await runCli([...command, '-h'], { cwd })).toEqual({ code, stdout, stderr });
    expect(stdout).toMatch(/\nExamples:\n {2}\S*coxswain /);
  },
);

test.each(['--version', '-V'])('%s prints the version of the package', async (option) => {
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(manifest) as { readonly version: string };
  expect(await runCli([option], { cwd })).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test.each([
  [['search']],
  [['analyze', 'x', '--nope']],
  [['bogus']],
  [['show']],
  [['runs', '--limit', 'many']],
  [['analyze', 'x', '--format', 'nope']],
  [['analyze', 'x', '--store', '']],
  [['watch', '-']],
  [['watch', 'x', '--deadline', 'soon']],
  [['watch', 'x', '--interval', '1']],
  [['export', '--no-content', '--to', 'x.ndjson']],
  [['runs', '--store', 'x.db', '--project', 'x']],
])('%j is wrong usage: one line and exit code 2', async (args) => {
  const { code, stdout, stderr } = await runCli(args, { cwd });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^coxswain: [^\n]+\n$/);
});

test('a process prints what the same command prints in the process of a test, and ends by itself', async () => {
  const here = { cwd: testFolder(), stdin: sampleRun('one', 'stuck') };
  const store = ['--store', 'runs.db'];
  expect((await spawnCli(['analyze', '-', '--summary', ...store], here)).code).toBe(0);
  const commands = [
    ['analyze', '-', '--json'],
    ['report', 'runs.db', '--markdown'],
    ['runs', ...store],
    ['show', 'one', ...store],
    ['search', 'make', ...store],
    ['verify', ...store],
    ['export', ...store],
    ['gc', '--older-than', '1d', '--dry-run', ...store],
    ['backtest', 'runs.db'],
    ['config', 'check'],
    ['runs', '--limit', 'many'],
  ];
  for (const args of commands) expect([args, await spawnCli(args, here)]).toEqual([args, await runCli(args, here)]);
});

const scenarios = sharedPath('scenarios');
const raw = sharedPath('trajectories', 'raw');

test.skipIf(scenarios === undefined)(
  'every labelled scenario is analysed under its own id (needs ../shared)',
  async () => {
    const files = await readdir(scenarios ?? '');
    const names = files.filter((name) => name.endsWith('.json'));
    const ids = await Promise.all(
      names.map(async (name) => {
        const text = await readFile(join(scenarios ?? '', name), 'utf8');
        return (JSON.parse(text) as { readonly id: string }).id;
      }),
    );
    const { code, stdout, stderr } = await runCli(['analyze', scenarios ?? '', '--json'], { cwd });
    expect(files.filter((name) => !name.endsWith('.json'))).toEqual(['README.md']);
    expect([code, stderr]).toEqual([
      0,
      'coxswain: 1 file is not a trajectory and is left out; coxswain analyze --verbose gives the reasons\n',
    ]);
    const runs = jsonLines(stdout);
    expect(runs).toHaveLength(ids.length);
    expect(new Set(runs.map((run) => run['id']))).toEqual(new Set(ids));
  },
);

test.skipIf(raw === undefined)('every sample file of every format gives runs (needs ../shared)', async () => {
  const { stdout } = await runCli(['analyze', raw ?? '', '--json'], { cwd });
  const runs = jsonLines(stdout);
  const sources = new Set(runs.map((run) => String(run['source'])));
  const entries = await readdir(raw ?? '', { recursive: true, withFileTypes: true });
  const samples = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  // tau2's results.json is the index of an experiment; its simulations are in separate files.
  const noRuns = /\/(?:(?:SOURCE|README|LICENSE)[^/]*|intercode-json\/[^/]*|tau2-simulation\/results\.json)$/;
  const without = samples.filter((path) => !noRuns.test(path) && !sources.has(path));
  expect(without).toEqual([]);
  expect(new Set(runs.map((run) => run['id'])).size).toBe(runs.length);
});
