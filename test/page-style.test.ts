import { readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { PAGE_STYLE } from '../src/cli/document/write-document.ts';

/** The colours that a block of a style sheet names. */
function coloursOf(block: string | undefined): ReadonlyMap<string, string> {
  return new Map([...(block ?? '').matchAll(/--([\w-]+): (#\w+)/g)].map(([, name = '', value = '']) => [name, value]));
}

test('reports have the colours of the viewer, light and dark', async () => {
  const viewer = await readFile(new URL('../src/viewer/page/style.css', import.meta.url), 'utf8');
  const themes = [
    [coloursOf(PAGE_STYLE.split('@media')[0]), coloursOf(/:root \{[^}]*\}/.exec(viewer)?.[0])],
    [coloursOf(PAGE_STYLE.split('@media')[1]), coloursOf(/:root\[data-theme='dark'\] \{[^}]*\}/.exec(viewer)?.[0])],
  ] as const;
  for (const [page, expected] of themes) {
    expect(page.size).toBeGreaterThan(5);
    for (const [name, value] of page) expect([name, value]).toEqual([name, expected.get(name)]);
  }
});
