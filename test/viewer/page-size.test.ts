import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { buildPage } from '../../scripts/build-page.ts';
import { tempFolder } from '../support/temp-folder.ts';

test('the page is one script and one style of 320 KB compressed that a file can contain, without a parser of shell commands', async () => {
  const folder = await tempFolder();
  try {
    await buildPage(folder.path);
    const assets = join(folder.path, 'assets');
    const names = (await readdir(assets)).toSorted();
    expect(names).toEqual([expect.stringMatching(/^main-\w+\.js$/), expect.stringMatching(/^style-\w+\.css$/)]);
    const texts = await Promise.all(names.map((name) => readFile(join(assets, name), 'utf8')));
    expect(texts.reduce((sum, text) => sum + gzipSync(text).length, 0)).toBeLessThan(320 * 1024);
    const [script = '', style = ''] = texts;
    // Either would end the element that contains it, or hide its end.
    expect(script).not.toMatch(/<\/script|<!--/i);
    expect(style).not.toMatch(/<|url\(|@import/);
    // Names of its syntax tree outlive minifying.
    expect(script).not.toContain('ArithmeticCommandExpansion');
  } finally {
    await folder.dispose();
  }
});
