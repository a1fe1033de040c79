import { expect, test } from 'vitest';
import { cpuMs } from '../../../../test/support/cost-growth.ts';
import { seededRandom } from '../../../../test/support/seeded-random.ts';
import { wordsOfForm } from '../../../../test/support/words-of-form.ts';
import { lightMask, masksOf, strongMask, VOLATILE } from './mask.ts';

test.each([
  ['2026-03-01T10:10:00.123Z started', '~ started'],
  ['img_6948e56e-d57e-4780-aec2-9506bfc35506.png', 'img_~.png'],
  ['"savedAt":1034,', '"savedAt":~,'],
  ['web   0/1   ErrImagePull   0   47m', 'web   0/1   ErrImagePull   0   ~'],
  ['a\nI0414 10:20:58.945773 request.go] x', 'a\nI0414 ~ request.go] x'],
  ['wrote /tmp/abc123/out.txt', 'wrote /tmp/~'],
])('what is volatile is masked and the rest stays: %s', (text, masked) => {
  expect(lightMask(text)).toBe(masked);
});

test.each([
  '12 of 40 tests passed',
  'request 13',
  'page 3',
  'src/store/file-7.ts',
  '"total": 41234',
  'line 12: const value = 5',
])('what may be progress or meaning stays: %s', (text) => {
  expect(lightMask(text)).toBe(text);
});

test('a text without a digit stays as it is', () => {
  expect(lightMask('date: cannot set date')).toBe('date: cannot set date');
});

const anyRule = new RegExp(VOLATILE.map(({ form }) => form.source).join('|'), 'my');

/** As `lightMask` for a short text, but every sequence of letters and digits is tested with the rules. */
function maskedByRules(text: string): string {
  let [masked, done, end] = ['', 0, 0];
  for (const { index } of text.matchAll(/\d/g)) {
    if (index < end) continue;
    const start = index - (/[A-Za-z\d]{0,64}$/.exec(text.slice(end, index))?.[0].length ?? 0);
    anyRule.lastIndex = start;
    if (anyRule.test(text)) {
      end = anyRule.lastIndex;
      masked += `${text.slice(done, start)}~`;
      done = end;
    } else end = index + (/^[A-Za-z\d]*/.exec(text.slice(index))?.[0].length ?? 1);
  }
  return masked + text.slice(done);
}

test('every part that a rule matches is masked, whatever is around it', () => {
  const words = VOLATILE.flatMap(({ form }) => wordsOfForm(form)).concat(
    '',
    'took_',
    'x',
    '7',
    '.1',
    '/tmp/',
    'trace id',
  );
  const joints = [
    '',
    ' ',
    '  ',
    ':',
    '=',
    ': ',
    ' = ',
    '": ',
    '": "',
    "='",
    '"="',
    ' #',
    '[',
    '-',
    '_',
    '.',
    '/',
    ': W/',
    ':\\"',
    '\u00a0',
    '→',
    '\n',
    '(',
  ];
  const numbers = [
    '1',
    '07',
    '12',
    '2026',
    '48215',
    '1034567',
    '10345678',
    '0150326655',
    '1750000000',
    '3f2b8c',
    '9f3a1c0d',
    'a1',
    '5m',
  ];
  const tails = [
    '',
    ' ',
    '\n',
    'ms',
    ' ms',
    '\tmin',
    ' s',
    ' ns',
    ' weeks ago',
    ' hours ago',
    ' days ago',
    '.5 s',
    'µs',
    ' µs',
    ']: ',
    ':30',
    ':30:05',
    '-01-02',
    '/03/01',
    'T10:10',
    '-a1b2',
  ];
  const random = seededRandom(7);
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '';
  const texts = Array.from({ length: 80_000 }, () =>
    [words, joints, numbers, tails, joints, numbers].map(pick).join(''),
  );
  expect(texts.filter((text) => lightMask(text) !== maskedByRules(text))).toEqual([]);
  expect(new Set(texts.flatMap((text) => masksOf(text)))).toEqual(new Set(VOLATILE.map(({ id }) => id)));
});

test('both ends of a long text are masked and its middle is compared as it is', () => {
  const filler = 'word '.repeat(1_000);
  const long = `10:00:00 ${filler}11:00:00 ${filler}12:00:00`;
  expect(lightMask(long)).toBe(`~ ${filler}11:00:00 ${filler}~`);
});

test('errors of one cause are equal under the strong mask', () => {
  expect(strongMask("No module named 'numpy'")).toBe(strongMask("No module named 'pandas'"));
  expect(strongMask('/src/a.ts(12,3): error TS2304')).toBe(strongMask('/lib/b.ts(7,44): error TS2304'));
  expect(strongMask('permission denied')).not.toBe(strongMask('not found'));
});

test.each(['1', 'a1', '/tmp/', '"', '['])(
  'the longest text that is masked, of many %j, costs a bounded time',
  (piece) => {
    const text = piece.repeat(8_000 / piece.length);
    const cost = cpuMs(() => {
      lightMask(text);
      strongMask(text.slice(0, 400));
    });
    expect(cost).toBeLessThan(500);
  },
);
