import { expect, test } from 'vitest';

import { present } from './json.ts';

test('members without a value are absent, and null, false, 0 and the empty text are values', () => {
  const value: string | undefined = [].at(0);
  const result: { readonly a?: string; readonly b: null } = present({ a: value, b: null, c: false, d: 0, e: '' });
  expect(result).toStrictEqual({ b: null, c: false, d: 0, e: '' });
});
