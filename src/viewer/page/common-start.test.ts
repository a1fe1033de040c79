import { expect, test } from 'vitest';

import { differingParts, withoutCommonStart } from './common-start.ts';

const INTRO = 'Please solve the following issue in this repository: ';

test('the beginning that at least three texts share is left out, up to the beginning of a word', () => {
  const texts = [`${INTRO}colour names`, `${INTRO}colon in a path`, `${INTRO}cold start`];
  const shorten = withoutCommonStart(texts);
  expect(texts.map(shorten)).toEqual(['…colour names', '…colon in a path', '…cold start']);
});

test('texts that share their beginning with fewer others, or share little, stay whole', () => {
  const pair = [`${INTRO}colour names`, `${INTRO}colour names`, `${INTRO}cold start`];
  expect(pair.map(withoutCommonStart(pair))).toEqual(pair);
  const short = ['Fix the first test', 'Fix the second test', 'Fix the third test'];
  expect(short.map(withoutCommonStart(short))).toEqual(short);
});

test('each group of a mixed list has its own beginning', () => {
  const other = 'Write one SQL query that answers the question: ';
  const texts = ['a', 'b', 'c'].flatMap((name) => [`${INTRO}${name}`, `${other}${name}`]);
  expect(texts.map(withoutCommonStart(texts))).toEqual(['…a', '…a', '…b', '…b', '…c', '…c']);
});

test('texts are counted, and shortened if they are long', () => {
  expect(differingParts(['ls', 'find .', 'ls'])).toEqual([
    ['ls', 2],
    ['find .', 1],
  ]);
  expect(differingParts(['x'.repeat(200)])[0]?.[0]).toBe(`${'x'.repeat(79)}…`);
});
