import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { tempFolder } from '../../../test/support/temp-folder.ts';
import { openSessions } from './open-sessions.ts';

let folder: Awaited<ReturnType<typeof tempFolder>>;

beforeEach(async () => {
  folder = await tempFolder();
});

afterEach(() => folder.dispose());

test('a session is open while its process runs, and the file of a killed process is skipped', async () => {
  expect(await openSessions(folder.path)).toBeUndefined();
  const deadPid = spawnSync(process.execPath, ['--version']).pid;
  await mkdir(join(folder.path, 'sessions'));
  const write = (name: string, text: string): Promise<void> => writeFile(join(folder.path, 'sessions', name), text);
  await write('1.json', JSON.stringify({ pid: process.pid, sessionId: 'here', waitingFor: 'permission prompt' }));
  await write('2.json', JSON.stringify({ pid: deadPid, sessionId: 'gone' }));
  await write('3.json', '{"pid": 12');
  expect(await openSessions(folder.path)).toEqual(new Map([['here', { waitingFor: 'permission prompt' }]]));
});

test.skipIf(process.platform !== 'linux')('another process that has the number by now is not the session', async () => {
  await mkdir(join(folder.path, 'sessions'));
  const session = { pid: process.pid, procStart: '1', sessionId: 'old' };
  await writeFile(join(folder.path, 'sessions', '1.json'), JSON.stringify(session));
  expect(await openSessions(folder.path)).toEqual(new Map());
});
