import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Severity } from '../../records/spoken-advice.ts';
import { joinAdvice } from './advice.ts';

const item = (text: string, severity: Severity = 'info'): { text: string; severity: Severity } => ({ text, severity });

test('texts join with a blank line, by severity, then in the order given', () => {
  const items = [item('a'), item('b', 'warning'), item('c', 'caution'), item('d', 'warning'), item('e')];
  expect(joinAdvice(items)).toEqual({
    text: 'b\n\nd\n\nc\n\na\n\ne',
    included: [items[1], items[3], items[2], items[0], items[4]],
    omitted: [],
  });
});

test('beyond the limit whole items are left out, the least severe first', () => {
  const items = [item('info'), item('caution!', 'caution'), item('warning!', 'warning')];
  expect(joinAdvice(items, { maxChars: 18 })).toMatchObject({ text: 'warning!\n\ncaution!', omitted: [items[0]] });
  expect(joinAdvice(items, { maxChars: 17 })).toMatchObject({ text: 'warning!', omitted: [items[1], items[0]] });
});

test('an item that is longer than the limit does not hold back the others', () => {
  const long = item('x'.repeat(30), 'warning');
  expect(joinAdvice([item('a'), long], { maxChars: 10 })).toMatchObject({ text: 'a', omitted: [long] });
});

test('an empty list gives an empty text', () => {
  expect(joinAdvice([])).toEqual({ text: '', included: [], omitted: [] });
});

test('every item is included or omitted, no text is cut, and no omitted item that fits is more severe than an included one', () => {
  const severity = fc.constantFrom<Severity>('info', 'caution', 'warning');
  const items = fc.array(fc.record({ text: fc.string({ minLength: 1, maxLength: 12 }), severity }), { maxLength: 8 });
  const rank = { info: 0, caution: 1, warning: 2 };
  fc.assert(
    fc.property(items, fc.integer({ min: 1, max: 40 }), (given, maxChars) => {
      const joined = joinAdvice(given, { maxChars, separator: '|' });
      expect(joined.text).toBe(joined.included.map(({ text }) => text).join('|'));
      expect(joined.text.length).toBeLessThanOrEqual(maxChars);
      expect(new Set([...joined.included, ...joined.omitted])).toEqual(new Set(given));
      expect(joined.included.length + joined.omitted.length).toBe(given.length);
      const lowest = Math.min(...joined.included.map((one) => rank[one.severity]));
      const fitting = joined.omitted.filter((one) => one.text.length <= maxChars);
      for (const one of joined.included.length === 0 ? [] : fitting) {
        expect(rank[one.severity]).toBeLessThanOrEqual(lowest);
      }
    }),
  );
});
