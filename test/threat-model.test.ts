import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = new URL('..', import.meta.url);
const page = readFileSync(new URL('docs/security.md', root), 'utf8');
const LINE = /^\| (?!---)[^|]+ \| [^|]+ \| ([^|]+) \|$/gm;

test('every row of the threat model names a test that exists', () => {
  const tests = [...page.matchAll(LINE)].map(([, cell = '']) => cell).filter((cell) => cell !== 'test');
  expect(tests.length).toBeGreaterThan(30);
  const wrong = tests.filter((cell) => {
    if (cell.startsWith('planned: ')) return false;
    const [, path = '', title = ''] = /^`([\w./-]+\.test\.ts)` "(.+)"$/.exec(cell) ?? [];
    const file = fileURLToPath(new URL(path, root));
    return path === '' || !existsSync(file) || !readFileSync(file, 'utf8').includes(title);
  });
  expect(wrong).toEqual([]);
});
