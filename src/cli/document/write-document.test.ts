import { expect, test } from 'vitest';

import { heading, linesOf, listBlock, sectionOf, styled, type Document } from './document.ts';
import { htmlPage, markdownText, terminalText } from './write-document.ts';

const HOSTILE = '<b>*a*\u001b[31m\u202e\n|';
const DOCUMENT: Document = {
  title: 'Night',
  blocks: [
    { type: 'facts', facts: ['one', HOSTILE, styled('bad', 'three')], separator: '; ' },
    ...sectionOf('Runs', listBlock([{ mark: { text: '✓', name: 'worked' }, head: 'first', lines: ['2 calls'] }])),
    ...sectionOf('Nothing', linesOf([])),
    {
      type: 'table',
      head: ['', 'runs'],
      rows: [
        ['long name', '1'],
        ['b', '20'],
      ],
    },
    heading('Plot'),
    { type: 'drawing', lines: ['·×`'] },
  ],
};
const form = { paint: (_style: string, text: string) => text, width: 20 };

test('a terminal gets filled facts, aligned tables and no control characters', () => {
  expect(terminalText(DOCUMENT, form)).toBe(
    [
      'Night',
      'one; <b>*a*⏎|; three',
      '',
      'Runs',
      '✓ first',
      '  2 calls',
      '',
      '           runs',
      'long name     1',
      'b            20',
      '',
      'Plot',
      '·×`',
      '',
    ].join('\n'),
  );
  expect(terminalText({ blocks: [{ type: 'facts', facts: ['x'.repeat(30)] }] }, form)).toBe(`${'x'.repeat(30)}\n`);
});

test('Markdown escapes every text', () => {
  expect(markdownText(DOCUMENT)).toBe(
    [
      '# Night',
      String.raw`one; \<b\>\*a\*⏎\|; three`,
      '## Runs',
      '- ✓ **first**  \n  2 calls',
      '|  | runs |\n| --- | --- |\n| long name | 1 |\n| b | 20 |',
      '## Plot',
      "```\n·×'\n```",
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n',
  );
});

test('a page escapes every text and names marks', () => {
  const page = htmlPage(DOCUMENT);
  expect(page).toContain('&lt;b&gt;*a*');
  expect(page).toContain('<span class="bad">three</span>');
  expect(page).toContain('worked <b>first</b><br />2 calls');
  expect(page).not.toContain('Nothing');
  expect(page).not.toContain('\u202e');
});

test('a terminal of a known width breaks lines at blanks, and a command so that a shell still takes it', () => {
  const blocks = [
    listBlock([
      {
        mark: { text: '✓' },
        head: 'one two three four',
        lines: ['a/path/of/more/than/twenty/columns', styled('code', 'view some-name --run 123456')],
      },
    ]),
    { type: 'table' as const, left: [1], rows: [['why', 'it answered, and its last check passed']] },
  ];
  const narrow = { ...form, width: 26, lineWidth: 26 };
  expect(terminalText({ blocks }, narrow).split('\n')).toEqual([
    '✓ one two three four',
    '  a/path/of/more/than/twenty/columns',
    '  view some-name --run \\',
    '    123456',
    '',
    'why  it answered, and its',
    '     last check passed',
    '',
  ]);
  expect(terminalText({ blocks }, form)).toContain('  view some-name --run 123456\n');
});
