import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  ACKNOWLEDGEMENT,
  holdsAcknowledgement,
  isAcknowledgement,
  isEmpty,
  isPending,
  resultText,
  saysIneffective,
  saysUnchanged,
} from './result-text.ts';

test('the text of a result is what the model read', () => {
  expect(resultText('plain')).toBe('plain');
  expect(resultText(null)).toBe('');
  expect(resultText([{ type: 'text', text: 'a' }, 'b'])).toBe('a\nb');
  expect(
    resultText([
      { type: 'text', text: 'a' },
      { type: 'image', data: '…' },
    ]),
  ).toContain('image');
  expect(resultText({ b: 1, a: true })).toBe('{"a":true,"b":1}');
});

test.each([
  ['', true],
  [' []\n', true],
  ['{}', true],
  ['{"ok":true,"messages":{"total":0,"matches":[]}}', true],
  ['{"legs":[],"count":0}', true],
  ['{"ok":true}', false],
  ['{"items":[],"next":"t-7"}', false],
  ['{"items":[0]}', false],
  ['{"items":[]', false],
  ['none', false],
])('whether %j holds nothing: %j', (text, expected) => {
  expect(isEmpty(text)).toBe(expected);
});

test.each([
  '{"statusCode":202,"body":""}',
  '{"updates":{"updatedRows":1,"updatedCells":4}}',
  '',
  ' \n',
  'ok',
  'Done.',
  'File written successfully',
  'true',
  '3 rows deleted',
])('%j only says done', (text) => {
  expect(isAcknowledgement(text)).toBe(true);
});

test('a sentence that says done with fixed advice after it only says done', () => {
  const advice = 'Please proceed with the current tasks if applicable and keep the list up to date as you go on';
  expect(isAcknowledgement(`Todos have been modified successfully. ${advice}`)).toBe(true);
  expect(isAcknowledgement(`Query completed. ${advice} 17`)).toBe(false);
});

test.each(['42', 'No changes detected', 'already exists', 'src/a.ts', `created ${'x'.repeat(100)}`])(
  '%j says something',
  (text) => {
    expect(isAcknowledgement(text)).toBe(false);
  },
);

test('an answer that nothing was changed is told from one that something was', () => {
  expect(saysUnchanged('nothing to commit, working tree clean')).toBe(true);
  expect(saysUnchanged('[main 1a2b3c] Fix')).toBe(false);
});

test('an answer that the work goes on is told from a finished one', () => {
  expect(isPending('Status: in_progress')).toBe(true);
  expect(isPending('still running, 40 %')).toBe(true);
  expect(isPending('completed')).toBe(false);
  expect(isPending('plotting')).toBe(true);
  expect(isPending('{"shutter":"opening","angle":12.5}')).toBe(true);
  expect(isPending('{"category":"clothing"}')).toBe(false);
  expect(isPending('nothing')).toBe(false);
  expect(isPending(`queued ${'x'.repeat(500)}`)).toBe(false);
});

test.each([
  ['{"state":"pending_approval"}', true],
  ['{"state":"in_review"}', true],
  ['{"status":"transcoding"}', true],
  ['not yet available', true],
  ['{"job":"a","percent":37}', true],
  ['{"done":false,"rows":0}', true],
  ['37 % complete', true],
  ['{"percent":100}', false],
  ['{"done":true}', false],
  ['a discount of 20 %', false],
  ['{"scheduled_departure":"10:00"}', false],
  ['{"queued":0,"pending":3}', false],
  ['const value = await load()', false],
])('%j says that it goes on: %s', (text, pending) => {
  expect(isPending(text)).toBe(pending);
});

test('an answer that an action came to nothing is told', () => {
  expect(saysIneffective('Nothing happens.')).toBe(true);
  expect(saysIneffective("I don't understand that.")).toBe(true);
  expect(saysIneffective('You open the drawer. It is empty.')).toBe(false);
});

const words =
  'ok okay done success successful successfully succeed succeeded complete completed completely created no output';
const marks = [' ', '  ', '\n', '.', '-', '_', '', 'é', '\u212A', 'x', '1'];
const more = 'saved wrote true null healthy passed OK Done NO OUTPUT notok token changed unchanged file'.split(' ');

test('what says "done" is found word by word as the pattern finds it', () => {
  const piece = fc.constantFrom(...words.split(' '), ...more, ...marks);
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const text = pieces.join('');
      expect([text, holdsAcknowledgement(text)]).toEqual([text, ACKNOWLEDGEMENT.test(text)]);
    }),
    { numRuns: 5_000 },
  );
});
