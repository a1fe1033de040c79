import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';

import { runScript } from '../../../test/support/run-script.ts';
import { mayBeAlive, thisProcess } from '../../cli/commands/watch/background-watch.ts';

test('a process is gone when it, its start or the start of its machine is another one', async () => {
  expect(mayBeAlive(thisProcess())).toBe(true);
  expect(mayBeAlive({ ...thisProcess(), host: 'elsewhere', pid: 1 })).toBe(true);
  const { child, ended } = runScript('process.exit()', []);
  await ended;
  expect(mayBeAlive({ ...thisProcess(), pid: child.pid ?? 0 })).toBe(false);
});

test.each([0, -1, 1.5, 2 ** 31, 2 ** 53])('the process id %d is no process', (pid) => {
  expect(mayBeAlive({ ...thisProcess(), host: 'elsewhere', pid })).toBe(false);
});

test.skipIf(process.platform !== 'linux')('a pid that was given away again is known', () => {
  expect(mayBeAlive({ ...thisProcess(), processStart: '1' })).toBe(false);
  expect(mayBeAlive({ ...thisProcess(), boot: 'before' })).toBe(false);
});

test.skipIf(process.platform !== 'linux')('a zombie process counts as ended', async () => {
  // It ends once the shell has been replaced by a program that asks about none of its children.
  const wait = "sh -c 'until grep -q sleep /proc/'$$'/comm; do sleep 0.02; done'";
  const child = spawn('sh', ['-c', `${wait} & echo $!; exec sleep 30`], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  const pid = Number(String(line));
  expect(pid).toBeGreaterThan(0);
  await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'latin1')).toContain(') Z ');
  expect(mayBeAlive({ ...thisProcess(), pid, processStart: '' })).toBe(false);
});
