import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { runCli } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';

let folder: string;

beforeEach(() => void (folder = testFolder()));

/** Runs in the neutral form: so many calls that repeat one failure, then an outcome. */
const run = (id: number, failures: number, outcomeSuccess: boolean): string =>
  JSON.stringify({
    id: `r${id}`,
    outcomeSuccess,
    calls: [
      { tool: 'read_file', args: { path: `a${id}` }, result: `text of ${id}` },
      ...Array.from({ length: failures }, () => ({
        tool: 'bash',
        args: { command: 'make' },
        result: 'make: *** No rule to make target. Stop.',
        isError: true,
      })),
    ],
  });

async function suggest(runs: readonly string[], ...more: readonly string[]): ReturnType<typeof runCli> {
  const file = join(folder, 'runs.jsonl');
  await writeFile(file, runs.join('\n'));
  return runCli(['config', 'suggest', file, ...more], { cwd: folder });
}

test('a signal as frequent in successful runs is suggested for switching off, with its figures', async () => {
  const runs = Array.from({ length: 40 }, (_, at) => run(at, at % 2 === 0 ? 6 : 0, at % 4 < 2));
  const { code, stdout } = await suggest(runs);
  expect(code).toBe(0);
  expect(stdout).toContain('20 of 40 runs went wrong (50 %)');
  expect(stdout).toMatch(/repeated_error: no better than chance; 10 of 20 runs .*\(95 % interval 30 % to 70 %\)/);
  expect(stdout).toContain('"repeated_error": false');
  const json = JSON.parse((await suggest(runs, '--json')).stdout) as { readonly proposal: object };
  expect(json.proposal).toMatchObject({ detectors: { repeated_error: false } });
});

test('a line that cannot be read is reported with its file', async () => {
  const { code, stderr } = await suggest([run(0, 6, true), '{"id":', run(1, 0, false)]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^coxswain: \S*runs\.jsonl:2: \w/);
});

test('a signal of failing runs stays, and without both outcomes there is no comparison', async () => {
  const useful = Array.from({ length: 40 }, (_, at) => run(at, at % 2 === 0 ? 6 : 0, at % 2 !== 0));
  expect((await suggest(useful)).stdout).toContain('Nothing to suggest');
  const alike = Array.from({ length: 10 }, (_, at) => run(at, 6, true));
  expect((await suggest(alike)).stdout).toContain('there is nothing to compare');
});
