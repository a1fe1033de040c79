import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { useStoresFolder } from './cli-stores.ts';
import { jsonLines } from './run-cli.ts';

const here = useStoresFolder();

/** A session in the form `calls`: a wrong command, the right one after it, and an edit whose text is not found. */
function session(index: number): string {
  const calls = [
    {
      tool: 'Bash',
      args: { command: 'rtk bun run test' },
      result: "error: unrecognized subcommand 'bun'",
      isError: true,
    },
    { tool: 'Bash', args: { command: 'bun run test' }, result: '12 pass', isError: false },
    {
      tool: 'Edit',
      args: { file_path: `/w/${'abc'[index]}.ts` },
      result: `String to replace not found in /w/${'abc'[index]}.ts`,
      isError: index < 2,
    },
  ];
  return JSON.stringify({ id: `s${index}`, calls });
}

test('the failures that come back are listed by cause, with what worked after them and two examples to open', async () => {
  await writeFile(join(here.cwd, 'runs.jsonl'), [0, 1, 2].map(session).join('\n'));
  const { code, stdout } = await here.run(['failures', 'runs.jsonl']);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /1\. rtk bun run test: error: unrecognized subcommand '…'\n +3 times in 3 sessions, cost 3 calls/,
  );
  expect(stdout).toMatch(
    /then worked: bun run test \(in 3 sessions\).*; it failed in the last session that used it\n +coxswain view runs\.jsonl --run s1 --call 1\n +coxswain view runs\.jsonl --run s2 --call 1\n/,
  );
  expect(stdout).toMatch(/The same cause, but another call each time\n+Edit: String to replace not found in <path>/);
  const [first] = jsonLines((await here.run(['failures', 'runs.jsonl', '--json'])).stdout);
  expect(first).toMatchObject({
    tool: 'Bash',
    times: 3,
    sessions: 3,
    worked: { shown: 'bun run test' },
    stillHappens: true,
  });
});

test('a command that worked in the last session that ran it no longer fails, and the sessions that ran it are counted', async () => {
  const run = (id: string, isError: boolean): string =>
    JSON.stringify({
      id,
      calls: [
        { tool: 'Bash', args: { command: 'npm run sync' }, result: isError ? 'error: no such script' : 'ok', isError },
      ],
    });
  await writeFile(join(here.cwd, 'runs.jsonl'), [run('a', true), run('b', true), run('c', false)].join('\n'));
  const { stdout } = await here.run(['failures', 'runs.jsonl']);
  expect(stdout).toContain('2 times in 2 sessions, cost 2 calls');
  expect(stdout).toContain('it worked in the last session that used it');
  await writeFile(
    join(here.cwd, 'more.jsonl'),
    [run('a', true), run('b', true), run('c', false), run('d', true)].join('\n'),
  );
  expect((await here.run(['failures', 'more.jsonl'])).stdout).toContain('it failed in the last session that used it');
});

test('a time without a failed call is one sentence', async () => {
  await writeFile(
    join(here.cwd, 'fine.jsonl'),
    JSON.stringify({ id: 'a', calls: [{ tool: 'Read', args: {}, result: 'ok' }] }),
  );
  expect((await here.run(['failures', 'fine.jsonl'])).stdout).toBe('No failed call.\n');
  const past = await here.run(['failures', 'fine.jsonl', '--until', '2026-11-01']);
  expect(past.stdout).toBe('No failed call before 2026-11-01 00:00.\n');
});
