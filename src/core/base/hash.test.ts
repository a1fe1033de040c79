import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashText } from './hash.ts';

test('equal texts have equal hashes and a hash is 16 hexadecimal digits', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(hashText(text)).toBe(hashText(text.split('').join('')));
      expect(hashText(text)).toMatch(/^[0-9a-f]{16}$/);
    }),
  );
});

test('200,000 short texts that differ by a number do not collide', () => {
  const seen = new Set<string>();
  for (let index = 0; index < 200_000; index += 1) seen.add(hashText(`call ${index}`));
  expect(seen.size).toBe(200_000);
});

test('one changed, swapped or added character changes the hash', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 2 }), fc.nat(), (text, at) => {
      const place = at % text.length;
      const changed = text.slice(0, place) + String.fromCharCode(text.charCodeAt(place) ^ 1) + text.slice(place + 1);
      expect(hashText(changed)).not.toBe(hashText(text));
      expect(hashText(`${text}\0`)).not.toBe(hashText(text));
    }),
  );
});
