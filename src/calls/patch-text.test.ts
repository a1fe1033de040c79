import { expect, test } from 'vitest';

import { patchedFile } from './patch-text.ts';

test('the patch of one file tells what gives way to what', () => {
  const patch =
    '*** Begin Patch\n*** Update File: src/a.css\n@@ .head {\n-  position: fixed;\n+  position: sticky;\n   top: 0;\n*** End Patch';
  expect(patchedFile(patch)).toEqual({
    target: 'src/a.css',
    replaces: { before: '  position: fixed;', after: '  position: sticky;' },
  });
});

test('so does a unified difference, in which dashes may stand at the beginning of a line', () => {
  const patch =
    'diff --git a/x.sql b/x.sql\n--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- old note\n+-- new note\n select 1;\n';
  expect(patchedFile(patch)).toEqual({
    target: 'x.sql',
    replaces: { before: '-- old note', after: '-- new note' },
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
