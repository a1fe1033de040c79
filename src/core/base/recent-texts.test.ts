import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { RecentTexts } from './recent-texts.ts';

test('what is given for a text was made of that very text', () => {
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 8), fc.array(fc.string({ maxLength: 40 })), (places, texts) => {
      const recent = new RecentTexts(places, (text) => ({ text }));
      expect(texts.map((text) => recent.get(text).text)).toEqual(texts);
    }),
  );
});

test('a repeated text is rarely computed again if few others come in between', () => {
  let made = 0;
  const recent = new RecentTexts(256, () => {
    made += 1;
    return {};
  });
  const texts = Array.from({ length: 32 }, (_, at) => `SELECT a FROM t WHERE id = ${at} AND name = 'x'`);
  for (const text of [...texts, ...texts]) recent.get(text);
  expect(made).toBeLessThan(32 + 16);
});

test('what could not be made is not kept', () => {
  let fails = true;
  const recent = new RecentTexts(2, (text) => {
    if (fails) throw new Error('no');
    return { text };
  });
  expect(() => recent.get('a')).toThrow('no');
  fails = false;
  expect(recent.get('a')).toEqual({ text: 'a' });
});
