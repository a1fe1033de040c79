import { expect, test } from 'vitest';
import { FrequencyTable } from './frequency-table.ts';

test('names are counted, most frequent first, ties by name', () => {
  const table = new FrequencyTable(8);
  for (const name of ['b', 'a', 'c', 'c']) table.add(name);
  expect(table.toArray()).toEqual([
    { name: 'c', count: 2 },
    { name: 'a', count: 1 },
    { name: 'b', count: 1 },
  ]);
});

test('a full table counts known names on and new ones together', () => {
  const table = new FrequencyTable(2);
  for (const name of ['a', 'b', 'c', 'd', 'a']) table.add(name);
  expect(table.size).toBe(2);
  expect(table.others).toBe(2);
  expect(table.toArray()[0]).toEqual({ name: 'a', count: 2 });
});

test('it goes on from its snapshot, which stays as it was taken', () => {
  const table = new FrequencyTable(2);
  for (const name of ['a', 'b', 'c']) table.add(name);
  const snapshot = table.snapshot();
  const copy = new FrequencyTable(2, snapshot);
  copy.add('a');
  expect(copy.toArray()[0]).toEqual({ name: 'a', count: 2 });
  expect(copy.others).toBe(1);
  expect(table.snapshot()).toEqual(snapshot);
});
