import { expect, test } from 'vitest';
import { guidanceContext, type ScriptedCall } from '../../../../test/support/guidance-script.ts';
import { sequentialWhenParallel } from './built-in-guidance.ts';

const judged = (calls: readonly ScriptedCall[], threshold = 3): boolean =>
  sequentialWhenParallel({ threshold }).classify(guidanceContext({ calls })).relevant;

test('three turns with one read each of different files could have been one turn', () => {
  expect(judged([{}, {}, {}])).toBe(true);
  expect(judged([{}, {}])).toBe(false);
});

test('a turn with two calls was parallel already and ends the series', () => {
  expect(judged([{}, {}, {}, { sameTurn: true }])).toBe(false);
  expect(judged([{}, {}, { sameTurn: true }, {}, {}])).toBe(false);
  expect(judged([{}, { sameTurn: true }, {}, {}, {}])).toBe(true);
});

test('another tool, a write, a failure or the same arguments are not independent', () => {
  expect(judged([{}, { tool: 'grep' }, {}])).toBe(false);
  const write: ScriptedCall = { tool: 'write_file' };
  expect(judged([write, write, write])).toBe(false);
  expect(judged([{}, { failed: true, result: 'Error: no such file' }, {}])).toBe(false);
  const same: ScriptedCall = { args: { path: 'a' } };
  expect(judged([same, same, same])).toBe(false);
});

test('without turns it is never relevant', () => {
  expect(judged([{ sameTurn: true }, { sameTurn: true }, { sameTurn: true }])).toBe(false);
});

test('a threshold outside its range is refused', () => {
  expect(() => sequentialWhenParallel({ threshold: 17 })).toThrow(
    expect.objectContaining({ code: 'invalid-definition' }),
  );
});
