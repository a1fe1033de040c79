import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJson } from './read-json.ts';

test('comments and commas before a closing bracket are allowed', () => {
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

test('a byte order mark is passed over', () => {
  expect(readJson('\uFEFF{"a":1}')).toEqual({ value: { a: 1 } });
  expect(readJson('\uFEFF{"a":1,}')).toEqual({ value: { a: 1 } });
});

test.each([
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'expected a comma or }, found "\\""'],
  ['{\n  a: 1\n}', 2, 3, 'expected a name in double quotes or }, found "a"'],
  ['{ "a": yes }', 1, 8, 'expected a value, found yes; texts stand in double quotes'],
  ['{ "a": \'b\' }', 1, 8, 'expected a value, found "\'"'],
  ['{ "a": 01 }', 1, 8, 'expected a value, found "0"'],
  ['{ "a" 1 }', 1, 7, 'expected a colon after "a", found "1"'],
  ['{ "a": "x\ny" }', 1, 8, 'a text is not closed, or has a line break or control character in it'],
  ['{ "a": "\\q" }', 1, 8, 'a text has an escape that JSON does not know'],
  ['{ "a": 1', 1, 9, 'expected a comma or }, found the end of the file'],
  ['{} x', 1, 4, 'expected the end, found "x"'],
  ['{ /* ', 1, 3, 'a comment is not closed'],
  ['[,]', 1, 2, 'expected a value, found ","'],
  ['', 1, 1, 'expected a value, found the end of the file'],
])('a text that breaks off is told with its line and column: %j', (text, line, column, message) => {
  expect(readJson(text)).toEqual({ line, column, message });
});

test('a value is read as the engine reads it, also with comments around everything', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value, undefined, 1);
      // Between two lines of pretty-printed JSON there is no text.
      const commented = text.replaceAll('\n', ' /* " */ // }\n').concat(' // end');
      expect(readJson(commented)).toEqual({ value: JSON.parse(text) as unknown });
    }),
  );
});

test('whatever text comes, reading it never throws', () => {
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

test('a hostile text of a megabyte is refused, not fallen over', () => {
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
