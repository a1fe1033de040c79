import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkEscalation, nextAttempt } from './output-escalation.ts';

test('by default the cap is multiplied by 4, three times, and never beyond 64,000', () => {
  const options = checkEscalation({});
  expect(nextAttempt(options, 0, 64)).toEqual({ attempt: 1, prevCap: 64, newCap: 256 });
  expect(nextAttempt(options, 1, 256)).toEqual({ attempt: 2, prevCap: 256, newCap: 1024 });
  expect(nextAttempt(options, 2, 20_000)).toEqual({ attempt: 3, prevCap: 20_000, newCap: 64_000 });
  expect(nextAttempt(options, 3, 64)).toBeUndefined();
  expect(nextAttempt(options, 0, 64_000)).toBeUndefined();
  expect(nextAttempt(options, 0, 100_000)).toBeUndefined();
});

test('a cap that is unknown is not raised', () => {
  expect(nextAttempt(checkEscalation({}), 0, undefined)).toBeUndefined();
  expect(nextAttempt(checkEscalation({}), 0, 0)).toBeUndefined();
});

test('attempts end, and each has a higher cap than the one before, within the limit', () => {
  const options = fc.record({
    factor: fc.double({ min: 1.1, max: 100, noNaN: true }),
    maxTokens: fc.integer({ min: 1, max: 1_000_000 }),
    maxAttempts: fc.integer({ min: 0, max: 8 }),
  });
  fc.assert(
    fc.property(options, fc.integer({ min: 1, max: 1_000_000 }), (given, first) => {
      const escalation = checkEscalation(given);
      let cap = first;
      let attempts = 0;
      for (;;) {
        const next = nextAttempt(escalation, attempts, cap);
        if (next === undefined) break;
        expect(next).toMatchObject({ attempt: attempts + 1, prevCap: cap });
        expect(next.newCap > cap && next.newCap <= given.maxTokens && Number.isInteger(next.newCap)).toBe(true);
        cap = next.newCap;
        attempts = next.attempt;
      }
      expect(attempts <= given.maxAttempts).toBe(true);
    }),
  );
});

test.each([
  ['factor', { factor: 1 }],
  ['factor', { factor: Number.NaN }],
  ['maxTokens', { maxTokens: 0 }],
  ['maxTokens', { maxTokens: 1.5 }],
  ['maxAttempts', { maxAttempts: -1 }],
] as const)('%s outside its range is refused when it is set up', (name, options) => {
  expect(() => checkEscalation(options)).toThrow(
    expect.objectContaining({ code: 'invalid-argument', message: expect.stringContaining(`outputEscalation.${name}`) }),
  );
});
