import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { csvField, fieldText } from './csv-field.ts';

/** What a spreadsheet and a parser of CSV read in a field. */
function parsed(field: string): string {
  return field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field;
}

test.each(['=1+1', '+1', '-2+3', '@SUM(A1)', '\t=1', '\r=1', '\n=1', "'=1", '=HYPERLINK("http://evil.example","x")'])(
  'the text %j is no formula in a spreadsheet',
  (text) => {
    expect(parsed(csvField(text))).toBe(`'${text}`);
  },
);

test('a number stays a number, and every text can be read back', () => {
  expect([csvField(-0.5), csvField(true), csvField('a-b')]).toEqual(['-0.5', 'true', 'a-b']);
  const text = fc.oneof(fc.string(), fc.stringMatching(/^'*[=+@-].{0,5}$/));
  fc.assert(
    fc.property(text, (value) => {
      expect(fieldText(parsed(csvField(value)))).toBe(value);
      expect(parsed(csvField(value))).not.toMatch(/^[=+\-@\t\r\n]/);
    }),
  );
});
