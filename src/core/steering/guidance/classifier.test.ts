import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { guidanceContext, type ScriptedCall } from '../../../../test/support/guidance-script.ts';
import {
  classifyCount,
  type Classifier,
  errorStreak,
  highToolCount,
  largeOutput,
  progressStall,
  recentFailures,
  singleToolRepeated,
} from './classifier.ts';

const isRelevant = (classifier: Classifier, calls: readonly ScriptedCall[]): boolean =>
  classifier.classify(guidanceContext({ calls })).relevant;

const failed: ScriptedCall = { failed: true, result: 'Error: it broke' };
const fine: ScriptedCall = {};
const many = (count: number, call: ScriptedCall): readonly ScriptedCall[] => Array.from({ length: count }, () => call);

test('confidence never falls as the count grows, and passes one half exactly at the threshold', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 0, max: 1_000 }), (threshold, count) => {
      const { confidence } = classifyCount(count, threshold, '');
      expect(confidence).toBeGreaterThanOrEqual(0);
      expect(confidence).toBeLessThanOrEqual(0.99);
      expect(confidence >= 0.75).toBe(count >= threshold);
      expect(classifyCount(count + 1, threshold, '').confidence).toBeGreaterThanOrEqual(confidence);
    }),
  );
});

test('errorStreak counts failed calls in a row, and a success ends the series', () => {
  expect(isRelevant(errorStreak(), many(3, failed))).toBe(true);
  expect(isRelevant(errorStreak(), many(2, failed))).toBe(false);
  expect(isRelevant(errorStreak(), [...many(5, failed), fine])).toBe(false);
  expect(errorStreak().classify(guidanceContext({ calls: many(3, failed) }))).toEqual({
    relevant: true,
    confidence: 0.75,
    reason: '3 failed calls in a row',
  });
});

test('recentFailures counts recent failures, in a row or not', () => {
  const mixed = Array.from({ length: 5 }, () => [failed, fine]).flat();
  expect(isRelevant(recentFailures(), mixed)).toBe(true);
  expect(isRelevant(recentFailures(), [...mixed, ...many(2, fine)])).toBe(false);
  expect(isRelevant(recentFailures({ threshold: 2 }), many(2, failed))).toBe(true);
});

test('highToolCount is relevant from its threshold on', () => {
  expect(isRelevant(highToolCount({ threshold: 4 }), many(4, fine))).toBe(true);
  expect(isRelevant(highToolCount({ threshold: 5 }), many(4, fine))).toBe(false);
});

test('singleToolRepeated sees through thoughts and stops at another tool', () => {
  const think: ScriptedCall = { tool: 'think', args: { thought: 'hm' }, result: 'ok' };
  expect(isRelevant(singleToolRepeated(), [...many(3, fine), think, ...many(2, fine)])).toBe(true);
  expect(isRelevant(singleToolRepeated(), [...many(3, fine), { tool: 'grep' }, ...many(2, fine)])).toBe(false);
});

test('largeOutput looks at the last result only', () => {
  const large: ScriptedCall = { result: 'x'.repeat(20_000) };
  expect(isRelevant(largeOutput(), [fine, large])).toBe(true);
  expect(isRelevant(largeOutput(), [large, fine])).toBe(false);
});

test('progressStall counts calls without a new result', () => {
  const same: ScriptedCall = { args: { path: 'a' }, result: 'the same content again' };
  expect(isRelevant(progressStall({ maxCalls: 5 }), many(6, same))).toBe(true);
  expect(isRelevant(progressStall({ maxCalls: 5 }), [...many(6, same), fine])).toBe(false);
  expect(isRelevant(progressStall({ maxCalls: 6 }), many(6, same))).toBe(false);
});

test('progressStall reports a stall found by the analysis', () => {
  const same: ScriptedCall = { args: { path: 'a' }, result: 'the same content again' };
  const result = progressStall({ maxCalls: 200 }).classify(guidanceContext({ calls: many(22, same) }));
  expect(result).toMatchObject({ relevant: true, reason: 'pattern stall', pattern: { level: 'warn' } });
});

test('an option outside its range is refused when the classifier is made', () => {
  const refused = expect.objectContaining({ code: 'invalid-definition' });
  const makers: readonly (() => Classifier)[] = [
    () => errorStreak({ threshold: 0 }),
    () => errorStreak({ threshold: Number.NaN }),
    () => recentFailures({ threshold: 1.5 }),
    () => highToolCount({ threshold: -1 }),
    () => singleToolRepeated({ threshold: 1 }),
    () => largeOutput({ minChars: 0 }),
    () => progressStall({ maxCalls: 201 }),
  ];
  for (const make of makers) expect(make).toThrow(refused);
});

test('no classifier is relevant in an empty run', () => {
  const all = [errorStreak(), recentFailures(), highToolCount(), singleToolRepeated(), largeOutput(), progressStall()];
  for (const classifier of all)
    expect(classifier.classify(guidanceContext())).toEqual({ relevant: false, confidence: 0 });
});
