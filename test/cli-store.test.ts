import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { testFolder } from './support/test-folder.ts';
import { homeOnly, jsonLines, runCli, sampleRun, spawnCli } from './run-cli.ts';
import { trustProject } from '../src/hosts/config/trust-project.ts';
import { storeFileOf } from './user-state.ts';

let cwd: string;

/** The store of the project. */
function storeFile(): string {
  return storeFileOf({ project: cwd, env: process.env });
}

beforeEach(async () => {
  cwd = testFolder();
  await writeFile(join(cwd, 'a.json'), sampleRun('alpha-1', 'stuck'));
  await writeFile(join(cwd, 'b.json'), sampleRun('alpha-2', 'fine', 700));
});

test('recorded runs are listed and shown as analysed', async () => {
  const analysed = await runCli(['analyze', 'a.json', 'b.json', '--store', 'x/runs.db'], { cwd });
  expect([analysed.code, analysed.stderr]).toEqual([0, '']);

  const listed = await runCli(['runs', '--store', 'x/runs.db', '--json'], { cwd });
  const summaries = jsonLines(listed.stdout).map(({ runId, calls, errors }) => [runId, calls, errors].join(' '));
  expect(new Set(summaries)).toEqual(new Set(['alpha-1 8 8', 'alpha-2 700 0']));

  const shown = await runCli(['show', 'alpha-1', '--store', 'x/runs.db'], { cwd });
  const patternsOf = (text: string): string =>
    text.slice(text.indexOf('  ××××××××'), text.lastIndexOf('not over at the end'));
  expect(patternsOf(shown.stdout)).not.toBe('');
  expect(patternsOf(shown.stdout)).toBe(patternsOf(analysed.stdout));

  const records = jsonLines((await runCli(['show', 'alpha-2', '--store', 'x/runs.db', '--json'], { cwd })).stdout);
  expect(records.map((record) => record['seq'])).toEqual(records.map((_, index) => index));
  expect(records.length).toBeGreaterThan(1400);
});

test('runs are listed below their parents, with agent and conversation', async () => {
  const cox = createCoxswain({ store: sqliteStore(join(cwd, 'tree.db')) });
  const root = cox.startRun({ runId: 'root', agentName: 'planner', conversationId: 'chat-9' });
  root.child({ runId: 'below', agentName: 'reader' });
  await cox.close();
  const { stdout } = await runCli(['runs', '--store', 'tree.db'], { cwd });
  expect(stdout).toMatch(
    /^no recorded task\n {2}planner, .*\n {2}run root, conversation chat-9\n {2}no recorded task\n {4}reader, .*\n {4}run below\n$/,
  );
  expect((await runCli(['show', 'below', '--store', 'tree.db'], { cwd })).stdout).toContain(
    'agent reader, conversation chat-9, started by root',
  );
});

test('the records printed by show give the same analysis', async () => {
  const first = await runCli(['analyze', 'a.json', '--json', '--store', 'runs.db'], { cwd });
  const records = await runCli(['show', 'alpha-1', '--store', 'runs.db', '--json'], { cwd });
  const again = await runCli(['analyze', '-', '--json'], { cwd, stdin: records.stdout });
  expect(jsonLines(again.stdout)[0]).toEqual({
    ...jsonLines(first.stdout)[0],
    source: '-',
    format: 'coxswain',
    agent: 'coxswain',
  });
});

test('recording the same file again changes nothing, also by another path', async () => {
  await runCli(['analyze', 'a.json', '--store', 'runs.db'], { cwd });
  const before = (await runCli(['show', 'alpha-1', '--store', 'runs.db', '--json'], { cwd })).stdout;
  const again = await runCli(['analyze', join(cwd, 'a.json'), '--store', 'runs.db'], { cwd });
  expect([again.code, again.stderr]).toEqual([0, '']);
  expect((await runCli(['show', 'alpha-1', '--store', 'runs.db', '--json'], { cwd })).stdout).toBe(before);
});

test('another run with a recorded id is one error line and exit code 1, and the other runs are recorded', async () => {
  await runCli(['analyze', 'a.json', '--store', 'runs.db'], { cwd });
  await writeFile(join(cwd, 'a.json'), sampleRun('alpha-1', 'fine', 3000));
  const { code, stdout, stderr } = await runCli(['analyze', 'a.json', 'b.json', '--json', '--store', 'runs.db'], {
    cwd,
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^coxswain: a\.json: run alpha-1 is not recorded: [^\n]+\n$/);
  expect(jsonLines(stdout)).toHaveLength(2);
  const runs = jsonLines((await runCli(['runs', '--json', '--store', 'runs.db'], { cwd })).stdout);
  expect(runs).toHaveLength(2);
});

test('a file that is not a store is one error line and exit code 1', async () => {
  await writeFile(join(cwd, 'plain.db'), 'not a database, and long enough to be looked at'.repeat(100));
  for (const args of [
    ['analyze', 'a.json', '--store', 'plain.db'],
    ['runs', '--store', 'plain.db'],
  ]) {
    const { code, stderr } = await runCli(args, { cwd });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^coxswain: [^\n]*plain\.db[^\n]*\n$/);
  }
  expect(await readFile(join(cwd, 'plain.db'), 'utf8')).toContain('not a database');
});

test('without a store, runs and show suggest a command', async () => {
  for (const [args, command] of [[['runs'], 'coxswain demo'] as const, [['show', 'x'], 'coxswain --all'] as const]) {
    const { code, stdout, stderr } = await runCli(args, { cwd, env: homeOnly(cwd) });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^coxswain: no [^\n]*\n$/);
    expect(stderr).toContain(command);
  }
  expect(existsSync(storeFile())).toBe(false);
});

test('a unique beginning of an id is enough', async () => {
  await runCli(['analyze', 'a.json', 'b.json', '--store', storeFile()], { cwd });
  await writeFile(join(cwd, 'c.json'), sampleRun('beta', 'fine'));
  await runCli(['analyze', 'c.json', '--store', storeFile()], { cwd });
  const shown = await runCli(['show', 'be'], { cwd });
  expect([shown.code, shown.stdout.includes('beta')]).toEqual([0, true]);
  const several = await runCli(['show', 'alpha'], { cwd });
  expect([several.code, several.stderr]).toEqual([
    2,
    'coxswain: alpha matches several runs: alpha-1, alpha-2; give more of the id\n',
  ]);
  const none = await runCli(['show', 'gamma'], { cwd });
  expect([none.code, none.stderr.split('\n').length]).toEqual([1, 2]);
});

test('the cursor leads to the next page of runs', async () => {
  await runCli(['analyze', 'a.json', 'b.json', '--store', storeFile()], { cwd });
  const first = await runCli(['runs', '--project', '.', '--limit', '1', '--json'], { cwd });
  const cursor = /--after (\S+)/.exec(first.stderr)?.[1] ?? '';
  const second = await runCli(['runs', '--project', '.', '--limit', '1', '--json', '--after', cursor], { cwd });
  const ids = [first, second].flatMap(({ stdout }) => jsonLines(stdout).map((run) => run['runId']));
  expect(new Set(ids)).toEqual(new Set(['alpha-1', 'alpha-2']));
  expect(second.stderr).toBe('');
  expect((await runCli(['runs', '--limit', '0'], { cwd })).code).toBe(2);
  expect((await runCli(['runs', '--after', 'nonsense'], { cwd })).code).toBe(2);
});

test('runs --cost and show print the cost of a run from built-in or configured prices, never a guess', async () => {
  const cox = createCoxswain({ store: sqliteStore(join(cwd, 'cost.db')) });
  for (const modelId of ['claude-haiku-4-5', 'made-up-1']) {
    const run = cox.startRun({ runId: modelId, modelId });
    const usage = { inputTokens: 1_000_000, outputTokens: 100_000 };
    run.emit({ type: 'message_end', message: { role: 'assistant', content: 'done', usage } });
    await run.end();
  }
  await cox.close();
  const costs = async (): Promise<unknown> => {
    // A process reads the prices once.
    const { stdout } = await spawnCli(['runs', '--store', 'cost.db', '--cost', '--json'], { cwd });
    return Object.fromEntries(jsonLines(stdout).map(({ runId, costUsd }) => [runId, costUsd]));
  };
  expect(await costs()).toEqual({ 'claude-haiku-4-5': 1.5, 'made-up-1': undefined });
  expect((await runCli(['show', 'claude-haiku-4-5', '--store', 'cost.db'], { cwd })).stdout).toContain(
    '1,100,000 tokens, $1.50',
  );
  await writeFile(
    join(cwd, 'coxswain.config.json'),
    JSON.stringify({ prices: { 'made-up-1': { input: 3, output: 10 } } }),
  );
  trustProject(cwd, { env: process.env });
  expect(await costs()).toEqual({ 'claude-haiku-4-5': 1.5, 'made-up-1': 4 });
});
