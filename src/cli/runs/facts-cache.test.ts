import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { useStoresFolder } from '../../../test/cli-stores.ts';
import { instructionFile } from '../../core/facts/instruction-lines.ts';
import type { RunFacts } from '../../core/facts/run-facts.ts';
import { FactsCache, thinFacts } from './facts-cache.ts';

const here = useStoresFolder();

function session(id: string): string {
  const calls = [
    { tool: 'Bash', args: { command: 'rtk bun' }, result: "unrecognized subcommand 'bun'", isError: true },
  ];
  return `${JSON.stringify({ id, calls })}\n`;
}

test('the second reading of unchanged files gives the same lines, and a file that grew is read again', async () => {
  const path = join(here.cwd, 'runs.jsonl');
  await writeFile(path, session('a') + session('b'));
  const first = await here.run(['failures', 'runs.jsonl']);
  expect(await here.run(['failures', 'runs.jsonl'])).toEqual(first);
  await appendFile(path, session('c'));
  expect((await here.run(['failures', 'runs.jsonl'])).stdout).toContain('3 times in 3 sessions');
});

test('each run of a file keeps its keys and its instruction files, and nothing that lessons do not need', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-facts-'));
  const run = { source: '', startedAtMs: 1, lastAtMs: 2, failures: [], instructions: [], activeMs: 9 };
  const file = instructionFile('CLAUDE.md', 'Use rtk.');
  const given = [
    { ...run, id: 'a', keys: [1, 37, 2 ** 52, 38] },
    { ...run, id: 'b', keys: [] },
    { ...run, id: 'c', keys: [5, 6], instructions: [file] },
    // The cache keeps these facts only.
  ] as readonly unknown[] as readonly RunFacts[];
  const cache = new FactsCache(join(folder, 'cache'));
  cache.put('x', '1', { runs: given.map(thinFacts) });
  cache.close();
  const again = new FactsCache(join(folder, 'cache'));
  const { runs: kept = [] } = again.get('x', '1') ?? {};
  expect(kept.map(({ id, instructions, keys }) => [id, Array.from(keys), instructions])).toEqual([
    ['a', [1, 37, 2 ** 52, 38], []],
    ['b', [], []],
    ['c', [5, 6], [file]],
  ]);
  expect(kept.flatMap((one) => Object.keys(one))).not.toContain('activeMs');
  expect(again.get('x', '2')).toBeUndefined();
  again.close();
  await rm(folder, { recursive: true });
});

test('no secret of a session is kept, and a call that differs only by its secret is the same call', async () => {
  const secrets = ['ghp_Zx81kQw7Lm3vNc5tRb9yHd2jPf6sGaXe4uTo', 'ghp_Qm4nB7vC1xZ9lK3jH6gF8dS2aP5oI0uYtRwE'];
  const runs = secrets.map((secret, index) => {
    const first = { tool: 'Bash', args: { command: `echo ${secrets[1 - index]}` }, result: secret, isError: false };
    const args = { command: `rtk --token ${secret} sync` };
    const failed = { tool: 'Bash', args, result: `error: unknown option of rtk: ${secret}`, isError: true };
    return JSON.stringify({ id: `s${index}`, calls: index === 0 ? [failed] : [first, failed] });
  });
  await writeFile(join(here.cwd, 'runs.jsonl'), runs.join('\n'));
  const cache = join(here.cwd, 'cache');
  const { stdout } = await here.run(['failures', 'runs.jsonl'], { env: { XDG_CACHE_HOME: cache } });
  expect(stdout).toContain('2 times in 2 sessions');
  expect(stdout).toMatch(/rtk --token \[REDACTED:[a-z-]+\] sync/);
  const kept = await filesWith(cache, 'rtk');
  expect(kept).not.toEqual([]);
  for (const bytes of kept) for (const secret of secrets) expect(bytes.includes(secret)).toBe(false);
});

async function filesWith(folder: string, text: string): Promise<readonly Buffer[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const contents = await Promise.all(files.map(({ name, parentPath }) => readFile(join(parentPath, name))));
  return contents.filter((bytes) => bytes.includes(text));
}
