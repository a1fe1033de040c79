import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { BUNDLED } from '../scripts/bundle-entries.ts';

const IMPORTED = /^(?:import|export)\s+(?:[\w*\s{},]+?\s+from\s+)?'([^'\n]+)';$/gm;

/** Everything that a file imports, directly or not: our files, and packages by name. */
function closureOf(entry: string): { readonly files: ReadonlySet<string>; readonly packages: ReadonlySet<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(IMPORTED)) {
      if (name.startsWith('.')) waiting.push(join(dirname(file), name));
      else packages.add(name);
    }
  }
  return { files, packages };
}

test('what is published for tests imports neither a test runner nor any other package of development', () => {
  const { files, packages } = closureOf(fileURLToPath(new URL('../src/testing/index.ts', import.meta.url)));
  expect(files.size).toBeGreaterThan(5);
  // Our own package.json.
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const foreign = [...packages].filter(
    (name) => !name.startsWith('node:') && !BUNDLED.has(name) && !Object.hasOwn(manifest.dependencies, name),
  );
  expect(foreign).toEqual([]);
});
