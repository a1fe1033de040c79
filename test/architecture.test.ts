import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { impureNames } from './support/impure-names.ts';

const source = fileURLToPath(new URL('../src', import.meta.url));
const { pure: FOLDS }: { readonly pure: readonly string[] } = JSON.parse(
  readFileSync(fileURLToPath(new URL('../rooms.json', import.meta.url)), 'utf8'),
);

function sourceFiles(folder: string): readonly string[] {
  const names = readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name)).map((name) => join(folder, name));
}

test.each(FOLDS)('%s/ is a pure fold: no clock, no chance, no timer, no process, no module of Node', (folder) => {
  const files = sourceFiles(folder);
  expect(files.length).toBeGreaterThan(0);
  const impure = files.flatMap((file) =>
    impureNames(readFileSync(join(source, file), 'utf8')).map(({ line, found }) => `${file}:${line} ${found}`),
  );
  expect(impure).toEqual([]);
});

test('a switch over record kinds names every kind: its default is passOver or assertNever, which the compiler checks', () => {
  const silent: string[] = [];
  let switches = 0;
  for (const file of sourceFiles('.')) {
    const text = readFileSync(join(source, file), 'utf8');
    for (const { 0: whole, index, 1: indent = '' } of text.matchAll(
      /^( *)switch \((?:record\.)?payload\.kind\) \{\n/gm,
    )) {
      switches += 1;
      const end = text.indexOf(`\n${indent}}\n`, index);
      const body = text.slice(index + whole.length, end);
      const fallback = body.split(`\n${indent}  default:`)[1] ?? '';
      // Without a default the linter asks for every kind.
      if (fallback !== '' && !/^\s*(?:return )?(?:passOver|assertNever)\b/.test(fallback))
        silent.push(`${file}: ${whole.trim()}`);
    }
  }
  expect(silent).toEqual([]);
  expect(switches).toBeGreaterThan(10);
});
