import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { SIGN, signsOf } from './word-signs.ts';

test.each([
  ['still there', SIGN.pending],
  ['{"job_status":"x"}', SIGN.pending],
  ['{"isReady":false}', SIGN.pending],
  ['IN_PROGRESS', SIGN.pending],
  ['40 % there', SIGN.pending],
  ['40%', SIGN.pending],
  ['distill', 0],
  ['nowhere', 0],
  ['no luck', SIGN.noChange],
  ['no', SIGN.noChange],
  ['node', 0],
  ['TypeError: x', SIGN.told],
  ['HTTPError', SIGN.told],
  ['HTTP_ERROR', SIGN.told],
  ['terror', 0],
  ["can't", SIGN.told],
  ['cancel', 0],
])('%j has the signs %d', (text, signs) => {
  expect(signsOf(text)).toBe(signs);
});

test('a word is found wherever it begins within the part that is read, and only there', () => {
  const filler = fc.stringMatching(/^[xyz .,_\d-]{0,12}$/);
  fc.assert(
    fc.property(filler, fc.constantFrom(' ', '_', '7', '"'), filler, (before, mark, after) => {
      const text = `${before}${mark}Captcha ${after}`;
      expect(signsOf(text) & SIGN.refusal).toBe(SIGN.refusal);
      expect(signsOf(text, 0, before.length + 1) & SIGN.refusal).toBe(0);
      expect(signsOf(text, before.length + 3) & SIGN.refusal).toBe(0);
    }),
  );
});
