import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
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
  cache.put('x', '1', given.map(thinFacts));
  const kept = cache.get('x', '1') ?? [];
  expect(kept.map(({ id, instructions, keys }) => [id, Array.from(keys), instructions])).toEqual([
    ['a', [1, 37, 2 ** 52, 38], []],
    ['b', [], []],
    ['c', [5, 6], [file]],
  ]);
  expect(kept.flatMap((one) => Object.keys(one))).not.toContain('activeMs');
  expect(cache.get('x', '2')).toBeUndefined();
  cache.close();
  await rm(folder, { recursive: true });
});
