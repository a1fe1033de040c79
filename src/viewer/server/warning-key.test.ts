import { expect, test } from 'vitest';

import { warningKey, warningParts } from './warning-key.ts';

function lineOf(line: string): string | undefined {
  return warningParts(warningKey({ kind: 'cycle', tool: 'bash', line })).line;
}

test('the parts of a key are those of the warning', () => {
  const parts = { kind: 'cycle', tool: 'bash', line: 'make: no rule' };
  expect(warningParts(warningKey(parts))).toEqual(parts);
  expect(warningParts(warningKey({ kind: 'cycle' }))).toEqual({ kind: 'cycle' });
});

test('quoted names are masked, so that the same failure on other names has the same key', () => {
  expect(lineOf("Table 'car_#.cars' doesn't exist")).toBe("Table '…' doesn't exist");
  expect(lineOf('no "a" in `b`')).toBe('no "…" in `…`');
  expect(lineOf("syntax to use near 'FROM cars WHE")).toBe("syntax to use near '…'");
});
