import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { tempFolder } from '../support/temp-folder.ts';
import { buildPage } from './build-page.ts';

/** A file and those that it needs before it runs. */
async function withImports(assets: string, name: string, known = new Set<string>()): Promise<ReadonlySet<string>> {
  if (known.has(name)) return known;
  known.add(name);
  const text = await readFile(join(assets, name), 'utf8');
  for (const [, other = ''] of text.matchAll(/(?:from|import)\s*["'`]\.\/([\w.-]+)["'`]/g))
    await withImports(assets, other, known);
  return known;
}

test('the page is below 200 KB compressed without lazy parts, and contains no parser of shell commands', async () => {
  const folder = await tempFolder();
  try {
    const page = await buildPage(folder.path);
    const assets = join(page, 'assets');
    const named = [...(await readFile(join(page, 'index.html'), 'utf8')).matchAll(/assets\/([\w.-]+)/g)];
    const needed = new Set<string>();
    for (const [, name = ''] of named) for (const file of await withImports(assets, name)) needed.add(file);
    expect(needed.size).toBeLessThan((await readdir(assets)).length);
    const files = await Promise.all([...needed].map((name) => readFile(join(assets, name))));
    expect(files.reduce((sum, file) => sum + gzipSync(file).length, 0)).toBeLessThan(200 * 1024);
    // Names of its syntax tree outlive minifying.
    expect(files.some((file) => file.includes('ArithmeticCommandExpansion'))).toBe(false);
  } finally {
    await folder.dispose();
  }
});
