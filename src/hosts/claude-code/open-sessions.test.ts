import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { testFolder } from '../../../test/support/test-folder.ts';
import { openSessions } from './open-sessions.ts';

let folder: string;

beforeEach(() => void (folder = testFolder()));

test('a session is open while its process runs, and the file of a killed process is skipped', async () => {
  expect(await openSessions(folder)).toBeUndefined();
  const deadPid = spawnSync(process.execPath, ['--version']).pid;
  await mkdir(join(folder, 'sessions'));
  const write = (name: string, text: string): Promise<void> => writeFile(join(folder, 'sessions', name), text);
  await write('1.json', JSON.stringify({ pid: process.pid, sessionId: 'here', waitingFor: 'permission prompt' }));
  await write('2.json', JSON.stringify({ pid: deadPid, sessionId: 'gone' }));
  await write('3.json', '{"pid": 12');
  expect(await openSessions(folder)).toEqual(new Map([['here', { waitingFor: 'permission prompt' }]]));
});

test.skipIf(process.platform !== 'linux')('another process that has the number by now is not the session', async () => {
  await mkdir(join(folder, 'sessions'));
  const session = { pid: process.pid, procStart: '1', sessionId: 'old' };
  await writeFile(join(folder, 'sessions', '1.json'), JSON.stringify(session));
  expect(await openSessions(folder)).toEqual(new Map());
});
