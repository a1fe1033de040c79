import { expect, test } from 'vitest';

import { headlineOf, textOf } from './text-of.ts';

test('a result is shown as the model read it: text, the text of its parts, or JSON', () => {
  expect(textOf('plain')).toEqual({ text: 'plain' });
  expect(
    textOf({
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
    }),
  ).toEqual({ text: 'one\ntwo' });
  expect(textOf({ ok: true }).text).toBe('{\n  "ok": true\n}');
  expect(textOf(null)).toEqual({ text: '' });
});

test('a cut text shows its length', () => {
  expect(textOf({ $cut: { chars: 30_000, preview: 'begin' } })).toEqual({ text: 'begin', cutFrom: 30_000 });
});

test('the headline of arguments is their subject, which is not repeated below', () => {
  expect(headlineOf({ command: 'ls' })).toEqual({ headline: 'ls', isWhole: true });
  expect(headlineOf({ path: 'a.ts', old: 'x' })).toEqual({ headline: 'a.ts', isWhole: false, shownName: 'path' });
  expect(headlineOf({ command: 'one\ntwo' })).toEqual({ headline: 'one', isWhole: false });
  expect(headlineOf({ input: '```BASH\nls /testbed\n```' })).toEqual({ headline: 'ls /testbed', isWhole: false });
  expect(headlineOf({})).toEqual({ headline: '', isWhole: true });
});
