import { expect, test } from 'vitest';
import { unseenItems } from './unseen-items.ts';

const isModels = (item: string): boolean => item.startsWith('model');

test('what came since the last request is new, whatever it is', () => {
  expect(unseenItems(['user', 'model', 'tool'], 1, isModels)).toEqual(['model', 'tool']);
  expect(unseenItems(['user', 'model', 'tool'], 3, isModels)).toEqual([]);
});

test('of a history seen for the first time, what the model has not answered yet is new', () => {
  expect(unseenItems(['user', 'model', 'user again'], 0, isModels)).toEqual(['user again']);
  expect(unseenItems(['system', 'user'], 0, isModels)).toEqual(['system', 'user']);
});

test('of a history that was shortened, the same holds', () => {
  expect(unseenItems(['summary', 'model', 'tool'], 9, isModels)).toEqual(['tool']);
});
