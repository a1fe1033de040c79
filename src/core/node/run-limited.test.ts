import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { runLimited } from './run-limited.ts';
import { HANGS_AFTER_MS } from '../../../test/support/hangs-after.ts';

const HERE = { cwd: process.cwd(), env: process.env };

test('a process that does not end is ended with what it has started', async () => {
  const result = await runLimited({ ...HERE, command: 'sleep 60 & echo $!; wait', limitMs: 3_000 });
  expect(result).toMatchObject({ code: null, timedOut: true });
  const child = Number(result.stdout);
  expect(child).toBeGreaterThan(1);
  await expect.poll(() => isAlive(child)).toBe(false);
});

test('what a process wrote and how it ended is told, also when it does not read its input', async () => {
  const result = await runLimited({
    ...HERE,
    command: 'echo out; echo err >&2; exit 3',
    stdin: 'x'.repeat(1_000_000),
    limitMs: HANGS_AFTER_MS,
  });
  expect(result).toMatchObject({ code: 3, stdout: 'out\n', stderr: 'err\n', timedOut: false });
});

test('a program that is not there is told as an error', async () => {
  const result = await runLimited({ ...HERE, command: '/no/such/program', args: [], limitMs: HANGS_AFTER_MS });
  expect(result).toMatchObject({ code: null, error: expect.stringContaining('ENOENT') });
});

/** A zombie counts as ended. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const state = process.platform === 'linux' ? stateOf(pid) : '';
  return state !== 'Z';
}

function stateOf(pid: number): string {
  try {
    return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? '';
  } catch {
    return 'Z';
  }
}
