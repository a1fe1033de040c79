import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { insertedText } from './inserted-text.ts';

test('an insertion is found wherever it stands', () => {
  expect(insertedText('[a,b]', '[a,b,c]')).toEqual({ at: 4, text: ',c' });
  expect(insertedText('same', 'same')).toEqual({ at: 4, text: '' });
});

test('only an insertion in one place is one', () => {
  expect(insertedText('abc', 'xaxbc')).toBeUndefined();
  expect(insertedText('abc', 'ab')).toBeUndefined();
  expect(insertedText('abc', 'aXc')).toBeUndefined();
});

test('what was inserted at random is found, and taking it out gives the text before', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.nat(), (before, text, place) => {
      const at = before.length === 0 ? 0 : place % (before.length + 1);
      const after = before.slice(0, at) + text + before.slice(at);
      const found = insertedText(before, after);
      expect(found?.text.length).toBe(text.length);
      expect(after.slice(0, found?.at) + after.slice((found?.at ?? 0) + text.length)).toBe(before);
    }),
  );
});
