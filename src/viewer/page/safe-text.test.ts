import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { safeText } from '../../core/base/printable.ts';
import { safeLine, safeImage } from './safe-text.ts';

/** Characters that reorder or hide text, and half characters. */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/u;

describe('text that is shown', () => {
  test('never contains characters that reorder or hide text', () => {
    const parts = fc.constantFrom(
      'a',
      '\u202e',
      '\u001b',
      '[31m',
      ']8;;http://x',
      '\u0007',
      '\ud800',
      '\r\n',
      '\u009b',
      '✓',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(parts).map((list) => list.join('')),
        ),
        (text) => {
          expect(safeText(text)).not.toMatch(UNSAFE);
        },
      ),
    );
  });

  test('is unchanged if it is safe', () => {
    for (const text of ['', 'plain\n\ttext', 'grüße ✓ 漢字 👍']) expect(safeText(text)).toBe(text);
  });

  test('shows unsafe characters by number, and drops terminal colours', () => {
    expect(safeText('a\u202eb\u0000')).toBe('a⟨U+202E⟩b⟨U+0000⟩');
    expect(safeText('\u001b[1;31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007')).toBe('red link');
    expect(safeText('one\r\ntwo')).toBe('one\ntwo');
  });

  test('is one line on request', () => {
    expect(safeLine(' one\n  two\r\nthree ')).toBe('one ⏎ two ⏎ three');
  });
});

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('pictures of the four known formats are shown', () => {
  expect(safeImage('image/png', PNG)).toBe(`data:image/png;base64,${PNG}`);
});

test('other formats, mislabelled data and invalid base64 are not shown', () => {
  expect(safeImage('image/svg+xml', PNG)).toBeUndefined();
  expect(safeImage('IMAGE/PNG', PNG)).toBeUndefined();
  expect(safeImage('image/png;x', PNG)).toBeUndefined();
  expect(safeImage('image/png', Buffer.from('<svg onload="x"/>').toString('base64'))).toBeUndefined();
  expect(safeImage('image/png', `${PNG}"><script>`)).toBeUndefined();
  expect(safeImage('image/png', undefined)).toBeUndefined();
  expect(safeImage(undefined, PNG)).toBeUndefined();
});
