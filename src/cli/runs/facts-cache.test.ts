import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { useStoresFolder } from '../../../test/cli-stores.ts';

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
