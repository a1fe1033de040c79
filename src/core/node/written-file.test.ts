import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { testFolder } from '../../../test/support/test-folder.ts';
import { findFile } from './guarded-file.ts';

async function place(): Promise<string> {
  const folder = testFolder();
  return join(folder, 'settings.json');
}

test('a small file is read, also through a link, and a missing one is undefined', async () => {
  const file = await place();
  expect(findFile(file)).toBeUndefined();
  writeFileSync(file, '{}');
  symlinkSync(file, `${file}.link`);
  expect(findFile(`${file}.link`)?.bytes.toString()).toBe('{}');
});

test.skipIf(process.platform === 'win32')(
  'a pipe, a device, a folder and a huge file are refused at once',
  async () => {
    const file = await place();
    expect(spawnSync('mkfifo', [`${file}.pipe`]).status).toBe(0);
    symlinkSync('/dev/zero', `${file}.device`);
    mkdirSync(`${file}.folder`);
    writeFileSync(`${file}.huge`, '');
    truncateSync(`${file}.huge`, 2 ** 40);
    for (const [kind, why] of [
      ['pipe', 'not a regular file'],
      ['device', 'not a regular file'],
      ['folder', 'not a regular file'],
      ['huge', '1099511627776 bytes'],
    ] as const) {
      expect(() => findFile(`${file}.${kind}`)).toThrow(
        expect.objectContaining({ code: 'input-io', message: expect.stringContaining(why) }),
      );
    }
  },
);
