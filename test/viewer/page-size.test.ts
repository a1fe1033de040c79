import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { tempFolder } from '../support/temp-folder.ts';
import { buildPage } from './build-page.ts';

test('the page is below 200 KB compressed, and holds no parser of shell commands', async () => {
  const folder = await tempFolder();
  try {
    const assets = join(await buildPage(folder.path), 'assets');
    const files = await Promise.all((await readdir(assets)).map((name) => readFile(join(assets, name))));
    expect(files.reduce((sum, file) => sum + gzipSync(file).length, 0)).toBeLessThan(200 * 1024);
    // Names of its syntax tree outlive minifying.
    expect(files.some((file) => file.includes('ArithmeticCommandExpansion'))).toBe(false);
  } finally {
    await folder.dispose();
  }
});
