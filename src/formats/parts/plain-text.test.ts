import { expect, test } from 'vitest';

import { plainText } from './object-lines.ts';

test('every JSON value has a text, also one that pretends to have methods', () => {
  const values: readonly unknown[] = [
    'a',
    5,
    null,
    undefined,
    true,
    [1],
    { toString: null },
    { toString: 'x', valueOf: 1 },
  ];
  expect(values.map((value) => plainText(value))).toEqual([
    'a',
    '5',
    'null',
    'undefined',
    'true',
    '[1]',
    '{"toString":null}',
    '{"toString":"x","valueOf":1}',
  ]);
});
