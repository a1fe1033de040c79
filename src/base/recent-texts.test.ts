import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { RecentTexts } from './recent-texts.ts';

test('what is found under a text was last set under that very text', () => {
  const steps = fc.array(fc.tuple(fc.string({ maxLength: 40 }), fc.option(fc.nat(), { nil: undefined })));
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 8), steps, (places, uses) => {
      const recent = new RecentTexts<number>(places);
      const written = new Map<string, number>();
      const wrong = uses.filter(([text, value]) => {
        const found = recent.get(text);
        const isWrong = found !== undefined && found !== written.get(text);
        if (value !== undefined) {
          recent.set(text, value);
          written.set(text, value);
        }
        return isWrong || (value !== undefined && recent.get(text) !== value);
      });
      expect(wrong).toEqual([]);
    }),
  );
});

test('texts that come again are found, as long as few others come between', () => {
  const recent = new RecentTexts<number>(256);
  const texts = Array.from({ length: 32 }, (_, at) => `SELECT a FROM t WHERE id = ${at} AND name = 'x'`);
  for (const [at, text] of texts.entries()) recent.set(text, at);
  const found = texts.filter((text, at) => recent.get(text) === at);
  expect(found.length).toBeGreaterThan(24);
});
