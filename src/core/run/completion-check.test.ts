import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { tempFolder } from '../../../test/support/temp-folder.ts';
import type { TrajectoryRecord } from '../records/trajectory-record.ts';
import { checkCompletion } from './completion-check.ts';
import { createCoxswain } from './coxswain.ts';

test('the agent is sent back with what is missing until it holds, and each answer is recorded', async () => {
  const folder = await tempFolder();
  const cox = createCoxswain();
  const payloads: TrajectoryRecord['payload'][] = [];
  cox.listen({ record: ({ payload }) => payloads.push(payload) });
  const run = cox.startRun();
  const isThere = `process.exit(require('node:fs').existsSync('done.txt') ? 0 : 3)`;
  const check = { files: ['done.txt'], command: [process.execPath, '-e', isThere], folder: folder.path };
  const first = await checkCompletion(run, check);
  expect(first.text).toMatch(
    /^\[Completion Check\]\n\nNot complete yet:\n- The file done\.txt does not exist\.\n- .*exit code 3\./,
  );
  await writeFile(join(folder.path, 'done.txt'), '');
  expect(await checkCompletion(run, check)).toEqual({ met: true, missing: [], text: undefined });
  await run.end();
  await folder.dispose();
  expect(payloads.filter(({ kind }) => kind === 'completion_checked')).toMatchObject([
    { met: false, attempt: 1 },
    { met: true, attempt: 2 },
  ]);
});

test('an agent that cannot do it may stop after so many checks, and so may one whose check throws, whose message the agent does not read', async () => {
  const run = createCoxswain().startRun();
  const missing = (): readonly string[] => {
    throw new Error('no network');
  };
  const texts: (string | undefined)[] = [];
  for (let at = 0; at < 4; at += 1) texts.push((await checkCompletion(run, { missing, maxAttempts: 2 })).text);
  expect(texts.map((text) => text?.includes('The check could not be made.'))).toEqual([true, true, undefined, true]);
});

test('a program that does not end is ended', async () => {
  const run = createCoxswain().startRun();
  const command = [process.execPath, '-e', 'setInterval(() => 0, 1000)'];
  const { missing } = await checkCompletion(run, { command, timeoutMs: 300 });
  expect(missing[0]).toMatch(/did not end within/);
});
