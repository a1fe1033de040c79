import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ClassificationResult } from '../../records/spoken-advice.ts';
import { guidanceContext } from '../../../../test/support/guidance-script.ts';
import { type Classifier, allOf, anyOf, not, threshold } from './classifier.ts';

const context = guidanceContext();

const answering = (relevant: boolean, confidence: number, reason?: string): Classifier => ({
  name: 'fixed',
  classify: () => (reason === undefined ? { relevant, confidence } : { relevant, confidence, reason }),
});

const ask = (classifier: Classifier): ClassificationResult => classifier.classify(context);

test('allOf has the confidence of its weakest part and all reasons', () => {
  expect(ask(allOf(answering(true, 0.9, 'a'), answering(true, 0.6, 'b')))).toEqual({
    relevant: true,
    confidence: 0.6,
    reason: 'a; b',
  });
  expect(ask(allOf(answering(true, 0.9), answering(false, 0.2)))).toEqual({ relevant: false, confidence: 0.2 });
});

test('anyOf has the confidence of its strongest relevant part', () => {
  const parts = [answering(true, 0.6, 'a'), answering(false, 0.8, 'b'), answering(true, 0.7, 'c')];
  expect(ask(anyOf(...parts))).toEqual({ relevant: true, confidence: 0.7, reason: 'a; c' });
  expect(ask(anyOf(answering(false, 0.1), answering(false, 0.4)))).toEqual({ relevant: false, confidence: 0.4 });
});

test('not inverts relevance and confidence', () => {
  expect(ask(not(answering(true, 0.75)))).toEqual({ relevant: false, confidence: 0.25 });
});

test('threshold is inclusive and keeps the confidence', () => {
  expect(ask(threshold(answering(true, 0.8), 0.8))).toEqual({ relevant: true, confidence: 0.8 });
  expect(ask(threshold(answering(true, 0.79), 0.8))).toEqual({ relevant: false, confidence: 0.79 });
});

test('a combination has the names of its parts and the pattern of a relevant one', () => {
  const pattern = { identity: 'cycle:x', level: 'warn', occurrences: 3 } as const;
  const looped: Classifier = { name: 'loop', classify: () => ({ relevant: true, confidence: 0.8, pattern }) };
  const combined = allOf(looped, not(answering(false, 0.1)));
  expect(combined.name).toBe('all_of(loop, not(fixed))');
  expect(ask(combined).pattern).toEqual(pattern);
});

test('no parts and a confidence outside 0 to 1 are refused', () => {
  const refused = expect.objectContaining({ code: 'invalid-definition' });
  expect(() => allOf()).toThrow(refused);
  expect(() => anyOf()).toThrow(refused);
  expect(() => threshold(answering(true, 1), 1.5)).toThrow(refused);
});

const part = fc
  .tuple(fc.boolean(), fc.integer({ min: 0, max: 64 }))
  .map(([relevant, parts]) => answering(relevant, parts / 64));
const parts = fc.array(part, { minLength: 1, maxLength: 5 });

test('De Morgan holds, and neither order nor repetition of parts matters', () => {
  fc.assert(
    fc.property(parts, (given) => {
      expect(ask(not(allOf(...given)))).toEqual(ask(anyOf(...given.map(not))));
      expect(ask(not(anyOf(...given)))).toEqual(ask(allOf(...given.map(not))));
      expect(ask(allOf(...given, ...given.toReversed()))).toEqual(ask(allOf(...given)));
      expect(ask(anyOf(...given, ...given.toReversed()))).toEqual(ask(anyOf(...given)));
    }),
  );
});
