import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const filesBelow = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));

test('workflows and the guide for contributors name commands and files that exist', () => {
  // Its shape is npm's.
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const texts = [
    'CONTRIBUTING.md',
    'docs/changes.md',
    ...filesBelow('.github').filter((file) => file.endsWith('.yml')),
  ];
  const named = texts.map(read).join('\n');
  const commands = [...named.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name);
  expect(commands.length).toBeGreaterThan(4);
  expect(commands.filter((name) => scripts[name] === undefined)).toEqual([]);
  const paths = [...named.matchAll(/`((?:src|test|docs|scripts)\/[\w./-]+)`/g)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(8);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
