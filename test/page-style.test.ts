import { readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { PAGE_STYLE } from '../src/cli/document/write-document.ts';

/** The colours that a style sheet names, each for light and dark. */
function coloursOf(style: string): ReadonlyMap<string, string> {
  const colours = style.matchAll(/--([\w-]+): (light-dark\([^)]*\))/g);
  return new Map([...colours].map(([, name = '', value = '']) => [name, value]));
}

test('reports have the colours of the viewer, light and dark', async () => {
  const viewer = coloursOf(await readFile(new URL('../src/viewer/page/style.css', import.meta.url), 'utf8'));
  const page = coloursOf(PAGE_STYLE);
  expect(page.size).toBeGreaterThan(5);
  for (const [name, value] of page) expect([name, value]).toEqual([name, viewer.get(name)]);
});
