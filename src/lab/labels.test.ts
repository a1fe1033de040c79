import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { testFolder } from '../../test/support/test-folder.ts';
import { formatLabels, LABEL_TARGETS, parseLabels, readLabels, type Label } from './labels.ts';

const cell = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('', '"', '""', ',', 'a\r\nb', 'a\nb', '\r', ' led', 'trailed ', '\ufeff', "it's", 'é,"x"\n'),
);
const label = fc.record<Label>({
  id: cell.filter((id) => id !== ''),
  target: fc.constantFrom(...LABEL_TARGETS),
  split: cell.map((split) => split.trim()),
  note: cell,
});

test('any labels come back from their CSV unchanged', () => {
  fc.assert(
    fc.property(fc.uniqueArray(label, { selector: ({ id }) => id }), (labels) => {
      expect(parseLabels(formatLabels(labels), 'labels.csv')).toEqual(labels);
    }),
    { numRuns: 500 },
  );
});

test('any text is read or refused with the file and a line', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r', ' ', '@') }), (text) => {
      let message = '';
      try {
        parseLabels(`id,target\n${text}`, 'labels.csv');
      } catch (error) {
        message = error instanceof Error ? error.message : 'no error';
      }
      expect(message).toMatch(/^$|^labels\.csv: line \d+: /);
    }),
    { numRuns: 500 },
  );
});

test('the header may be in any order and leave out what is not needed; line ends and case do not matter', () => {
  const wanted = [{ id: 'run-1@3', target: 'stuck', split: '', note: '' }];
  expect(parseLabels('Target,ID\r\nStuck,run-1@3\r\n', 'l')).toEqual(wanted);
  expect(parseLabels('\ufeffid,target,split,note\n\nrun-1@3,stuck,,', 'l')).toEqual(wanted);
});

test.each([
  ['', 'l: it is empty; its first line is id,target,split,note'],
  ['run-1,stuck\n', 'l: line 1: the first line must be id,target,split,note, got "run-1,stuck"'],
  ['id,target,id\n', 'l: line 1: the first line must be id,target,split,note, got "id,target,id"'],
  ['id,target\nrun-1\n', 'l: line 2: 1 fields where the first line has 2'],
  ['id,target\nrun-1,bad\n', 'l: line 2: target "bad"; give stuck, ok, skip'],
  ['id,target\n,ok\n', 'l: line 2: no id'],
  ['id,target\nrun-1,ok\n\nrun-1,stuck\n', 'l: line 4: "run-1" is labelled in line 2 already'],
  ['id,target,note\n"a\nb",ok,\nrun-2,no,\n', 'l: line 4: target "no"; give stuck, ok, skip'],
  ['id,target\n"run-1,ok\n', 'l: line 2: a quoted field has no closing quote'],
  ['id,target\n"run-1"x,ok\n', 'l: line 2: text after a closing quote'],
])('%j is refused with what is wrong and where', (text, message) => {
  expect(() => parseLabels(text, 'l')).toThrow(message);
});

test('of many problems the first three are named and the rest counted', () => {
  const lines = Array.from({ length: 10 }, (_, index) => `run-${index},no`);
  expect(() => parseLabels(['id,target', ...lines].join('\n'), 'l')).toThrow(/line 4: [^;]*; give [^;]*; and 7 more$/);
});

test('a file is read; one that is not there is named', async () => {
  const folder = testFolder();
  const file = join(folder, 'labels.csv');
  writeFileSync(file, 'id,target\nrun-1,ok\n');
  expect(await readLabels(file)).toEqual([{ id: 'run-1', target: 'ok', split: '', note: '' }]);
  await expect(readLabels(join(folder, 'none.csv'))).rejects.toMatchObject({ code: 'input-io' });
});
