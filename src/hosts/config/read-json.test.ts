import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJson } from './decode-config.ts';

test('comments and trailing commas are allowed', () => {
  const text = `// at the top
{
  "a": [1, 2, /* three */ 3,], // after
  /* over
     lines */
  "b": { "c": "// no comment", "d": "/* nor this */", },
}
// at the end`;
  expect(readJson(text)).toEqual({ value: { a: [1, 2, 3], b: { c: '// no comment', d: '/* nor this */' } } });
});

test('a byte order mark is skipped', () => {
  expect(readJson('\uFEFF{"a":1}')).toEqual({ value: { a: 1 } });
  expect(readJson('\uFEFF{"a":1,}')).toEqual({ value: { a: 1 } });
});

test.each([
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'comma expected'],
  ['{\n  a: 1\n}', 2, 3, 'invalid symbol'],
  ['{ "a": yes }', 1, 8, 'invalid symbol'],
  ['{ "a": \'b\' }', 1, 8, 'invalid symbol'],
  ['{ "a": 01 }', 1, 9, 'comma expected'],
  ['{ "a" 1 }', 1, 7, 'colon expected'],
  ['{ "a": "x\ny" }', 1, 8, 'unexpected end of string'],
  ['{ "a": "\\q" }', 1, 8, 'invalid escape character'],
  ['{ "a": 1', 1, 9, 'close brace expected'],
  ['{} x', 1, 4, 'invalid symbol'],
  ['{ /* ', 1, 3, 'unexpected end of comment'],
  ['[,]', 1, 2, 'value expected'],
  ['', 1, 1, 'value expected'],
])('a text that breaks off is reported with its line and column: %j', (text, line, column, message) => {
  expect(readJson(text)).toEqual({ line, column, message });
});

test('a member called __proto__ is a member, not a prototype', () => {
  const reading = readJson('{ "__proto__": { "polluted": true }, }');
  expect('value' in reading && Object.keys(Object(reading.value))).toEqual(['__proto__']);
  expect(Object.getPrototypeOf('value' in reading ? reading.value : undefined)).toBe(Object.prototype);
});

test('an empty text is allowed only on request', () => {
  expect(readJson('// nothing yet', { allowEmptyContent: true })).toEqual({ value: undefined });
  expect(readJson('// nothing yet')).toHaveProperty('message');
});

test('a value is the same as with JSON.parse, also with comments everywhere', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value, undefined, 1);
      // Between two lines of pretty-printed JSON there is no text.
      const commented = text.replaceAll('\n', ' /* " */ // }\n').concat(' // end');
      expect(readJson(commented)).toEqual({ value: JSON.parse(text) as unknown });
    }),
  );
});

test('reading never throws', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '/*',
    '*/',
    '//',
    '\n',
    'a',
    '1',
    '-',
    'true',
    ' ',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const reading = readJson(parts.join(''));
      expect('value' in reading || reading.line >= 1).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test('a hostile text of a megabyte is refused', () => {
  const chars = 1_000_000;
  for (const text of [
    '['.repeat(chars),
    '{"a":'.repeat(200_000),
    '/**/'.repeat(250_000),
    `"${'x'.repeat(chars)}`,
    '//\n'.repeat(300_000),
  ]) {
    expect(readJson(text)).toHaveProperty('message');
  }
});
