import { createRequire } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { impureNames } from './support/impure-names.ts';

const source = fileURLToPath(new URL('../src', import.meta.url));
/** The folds of the rule "folds are pure", which refuses only modules of Node. */
const {
  forbidden,
}: { readonly forbidden: readonly { readonly name: string; readonly from: { readonly path: readonly string[] } }[] } =
  createRequire(import.meta.url)('../.dependency-cruiser.cjs');
const FOLDS = forbidden
  .filter(({ name }) => name === 'folds are pure')
  .flatMap(({ from }) => from.path.map((path) => path.replaceAll(/^\^src\/|\/$/g, '')));

function sourceFiles(folder: string): readonly string[] {
  const names = readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name)).map((name) => join(folder, name));
}

test('there are folds', () => expect(FOLDS).not.toEqual([]));

test.each(FOLDS)('%s/ is a pure fold: no clock, no chance, no timer, no process, no module of Node', (folder) => {
  const files = sourceFiles(folder);
  expect(files.length).toBeGreaterThan(0);
  const impure = files.flatMap((file) =>
    impureNames(readFileSync(join(source, file), 'utf8')).map(({ line, found }) => `${file}:${line} ${found}`),
  );
  expect(impure).toEqual([]);
});

test('the adapter of LangChain imports nothing but what coxswain/host exports, and a Run', () => {
  const exported = readFileSync(join(source, 'adapters/host/index.ts'), 'utf8');
  const foreign = sourceFiles('adapters/langchain').flatMap((file) => {
    const imports = readFileSync(join(source, file), 'utf8').matchAll(
      /import (?:type )?\{([^}]*)\} from '\.\.\/([^']+)'/g,
    );
    return [...imports].flatMap(([, names = '']) =>
      names.split(',').map((name) => name.replace(/\btype\b/, '').trim()),
    );
  });
  expect(foreign).toContain('Conversation');
  const allowed = (name: string): boolean =>
    name === '' || name === 'Run' || new RegExp(`\\b${name}\\b`).test(exported);
  expect(foreign.filter((name) => !allowed(name))).toEqual([]);
});
