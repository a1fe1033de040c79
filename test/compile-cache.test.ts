import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { spawnCli } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };

/** Runs `coxswain --version` with a cache folder, without the compiled code that the tests share. */
async function runWith(cache: string): Promise<readonly [code: number | null, stdout: string, stderr: string]> {
  const env = { NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: cache };
  const { code, stderr, stdout } = await spawnCli(['--version'], { cwd: testFolder(), env });
  return [code, stdout, stderr];
}

const answer = [0, `${version}\n`, ''];

test('a command keeps its compiled code for the next one, for its owner only', async () => {
  const cache = testFolder();
  expect(await runWith(cache)).toEqual(answer);
  const names = (): readonly string[] => readdirSync(cache, { recursive: true, encoding: 'utf8' }).toSorted();
  const kept = names();
  expect(kept.filter((name) => /^coxswain\/compiled-[\da-f]{16}\/.+\/.+/.test(name)).length).toBeGreaterThan(3);
  const isOpen = (name: string): boolean =>
    process.platform !== 'win32' && (statSync(join(cache, name)).mode & 0o077) !== 0;
  expect(kept.filter(isOpen)).toEqual([]);
  expect(await runWith(cache)).toEqual(answer);
  expect(names()).toEqual(kept);
});

test('compiled code of other builds is deleted, except of the two latest', async () => {
  const cache = testFolder();
  for (const [age, name] of ['a', 'b', 'c', 'd'].entries()) {
    const folder = join(cache, 'coxswain', `compiled-${name}`);
    mkdirSync(join(folder, 'v24'), { recursive: true, mode: 0o700 });
    utimesSync(folder, 1_000_000 - age, 1_000_000 - age);
  }
  expect(await runWith(cache)).toEqual(answer);
  const left = readdirSync(join(cache, 'coxswain'));
  expect([left.includes('compiled-a'), left.includes('compiled-b'), left.length]).toEqual([true, true, 3]);
});

test('a command works, and says nothing, if its compiled code cannot be kept', async () => {
  const file = join(testFolder(), 'file');
  writeFileSync(file, '');
  expect(await runWith(file)).toEqual(answer);
});

test.skipIf(process.platform === 'win32')('no compiled code is kept in a folder that others can write', async () => {
  const cache = testFolder();
  mkdirSync(join(cache, 'coxswain'));
  chmodSync(join(cache, 'coxswain'), 0o777);
  expect(await runWith(cache)).toEqual(answer);
  const below = readdirSync(join(cache, 'coxswain')).flatMap((name) => readdirSync(join(cache, 'coxswain', name)));
  expect(below).toEqual([]);
});
