import { expect, test } from 'vitest';

import { editOf } from './edit-diff.ts';

test('an edit is shown as removed and added lines with context', () => {
  const args = { path: 'a.ts', old_str: 'one\ntwo\nthree', new_str: 'one\n2\nthree' };
  const { lines = [], names } = editOf(args) ?? {};
  expect(lines.map(({ sign, text }) => `${sign}${text}`)).toEqual([' one', '-two', '+2', ' three']);
  expect(names).toEqual(['old_str', 'new_str']);
  expect(editOf({ path: 'a.ts', old: 'a', new: 'b' })?.names).toEqual(['old', 'new']);
});

test('other calls are shown by their arguments', () => {
  expect(editOf({ command: 'ls' })).toBeUndefined();
});
