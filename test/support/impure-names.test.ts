import { expect, test } from 'vitest';
import { impureNames } from './impure-names.ts';

test.each([
  ['const now = Date.now();', 'Date'],
  ['const chance = Math.random();', 'Math.random'],
  ['setTimeout(go, 1);', 'setTimeout'],
  ['if (process.env.X) go();', 'process'],
  ["import { readFileSync } from 'node:fs';", "from 'node:fs'"],
  ["import 'node:os';", "import 'node:os'"],
  ['const text = `at ${Date.now()} ms`;', 'Date'],
  ["const a = 'it'; const b = new Date();", 'Date'],
  ['const slash = /[\'"]/; const b = new Date();', 'Date'],
  ["const half = a / b; const c = performance.now() / 2; // '", 'performance'],
  ["const url = 'http://x'; Date.now();", 'Date'],
  ['const text = `a ${list.map((one) => ({ one, two: `${Date.now()}` }))} b`;', 'Date'],
  ['const text = `a ${b} c`; Date.now();', 'Date'],
])('found in %s', (source, found) => {
  expect(impureNames(source).map((one) => one.found)).toEqual([found]);
});

test.each([
  '// Date.now() is not used here',
  '/* Math.random()\n * process */',
  "const text = 'Date.now() and process.env';",
  'const text = `Date.now()`;',
  'const words = /\\bprocess\\b|date/;',
  'const text = `a ${b} Date.now() ${c} process.env`;',
  'queue.process(item); process(item);',
  'const lastUpdate = updateDates(processed);',
  "import { fold } from './fold.ts';",
])('nothing found in %s', (source) => {
  expect(impureNames(source)).toEqual([]);
});

test('the line is told', () => {
  expect(impureNames('/* one\n two */\nconst a = 1;\nDate.now();')).toEqual([{ line: 4, found: 'Date' }]);
});
