import { expect, test } from 'vitest';
import { unseenItems } from './unseen-items.ts';

const isModels = (item: string): boolean => item.startsWith('model');

test('all items since the last request are new', () => {
  expect(unseenItems(['user', 'model', 'tool'], 1, isModels)).toEqual(['model', 'tool']);
  expect(unseenItems(['user', 'model', 'tool'], 3, isModels)).toEqual([]);
});

test('in a history seen for the first time, the items after the last one of the model are new', () => {
  expect(unseenItems(['user', 'model', 'user again'], 0, isModels)).toEqual(['user again']);
  expect(unseenItems(['system', 'user'], 0, isModels)).toEqual(['system', 'user']);
});

test('the same holds for a shortened history', () => {
  expect(unseenItems(['summary', 'model', 'tool'], 9, isModels)).toEqual(['tool']);
});
