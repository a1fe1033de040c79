import { expect, test } from 'vitest';

import { patchedFile } from './patch-text.ts';

test('the patch of one file gives the replaced text and its replacement', () => {
  const patch =
    '*** Begin Patch\n*** Update File: src/a.css\n@@ .head {\n-  position: fixed;\n+  position: sticky;\n   top: 0;\n*** End Patch';
  expect(patchedFile(patch)).toEqual({
    target: 'src/a.css',
    replaces: { before: '  position: fixed;', after: '  position: sticky;' },
  });
});

test.each([
  ['several files', '*** Begin Patch\n*** Update File: a\n-1\n+2\n*** Update File: b\n-1\n+2\n*** End Patch'],
  ['no file', '*** Begin Patch\n-1\n+2\n*** End Patch'],
  ['a list', '- one\n- two\n+ three'],
  ['nothing', ''],
])('a text with %s is no patch of one file', (_what, text) => {
  expect(patchedFile(text)).toBeUndefined();
});
