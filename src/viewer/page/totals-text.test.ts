import { expect, test } from 'vitest';

import { totalsText } from './totals-text.ts';

const ALL = {
  facets: { project: [], status: [], model: [], agent: [], task: [], pattern: [] },
  total: 97,
  groups: { needs: 12, running: 0, done: 85 },
  costUsd: 238.5,
  isLeast: false,
  withoutPrice: 0,
  damaged: 0,
  notIndexed: 0,
  pending: 0,
  notLookedAt: 0,
  version: 0,
};

test('totals name only what they cover', () => {
  expect(totalsText(ALL, [{ name: 'runs.db', runs: 97 }])).toBe('97 runs, $238.50, 12 need you');
});

test('totals of a store that is still listed or searched say so', () => {
  expect(totalsText({ ...ALL, pending: 1 }, [])).toBe('97 runs, at least $238.50, 12 need you, still reading');
});

test('totals name the runs that were not read, have no price or are damaged, and the files and runs beyond a limit', () => {
  const source = { name: 'old.db', runs: 100_000, truncated: true, indexing: { done: 3, files: 9 } } as const;
  const sums = {
    ...ALL,
    groups: { ...ALL.groups, needs: 1 },
    isLeast: true,
    notLookedAt: 20,
    withoutPrice: 2,
    damaged: 1,
  };
  expect(totalsText(sums, [source])).toBe(
    '97 runs, at least $238.50, 1 needs you, 20 not read yet, 2 without a price, 1 damaged, 3 of 9 files read, only the newest 100,000 of old.db',
  );
});
