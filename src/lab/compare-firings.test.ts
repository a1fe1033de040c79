import { expect, test } from 'vitest';

import { compareFirings } from './sweep-report.ts';
import type { FiringKey } from './run-row.ts';

const keys: readonly FiringKey[] = [
  { by: 'provider', name: 'loop', pattern: null, point: 'post_tool_result' },
  { by: 'pattern', name: 'cycle' },
  { by: 'provider', name: 'loop', pattern: 'cycle', point: 'pre_tool_selection' },
];

test('within a run and a provider a piece is unchanged, moved, new or removed', () => {
  const comparison = compareFirings(
    [
      { id: 'same', before: [0, 3, 1, 3], after: [0, 3] },
      { id: 'earlier', before: [0, 3, 0, 8], after: [0, 2, 0, 8] },
      { id: 'more', before: [], after: [0, 1, 2, 1] },
      { id: 'less', before: [0, 7], after: [] },
    ],
    keys,
  );
  expect(comparison).toEqual({
    unchanged: 2,
    added: 2,
    removed: 1,
    moved: 1,
    changedRuns: 3,
    byProvider: [{ provider: 'loop', unchanged: 2, added: 2, removed: 1, moved: 1 }],
    places: {
      added: [
        { run: 'more', provider: 'loop', call: 2 },
        { run: 'more', provider: 'loop', call: 2 },
      ],
      removed: [{ run: 'less', provider: 'loop', call: 8 }],
      moved: [{ run: 'earlier', provider: 'loop', call: 4, to: 3 }],
    },
  });
});

test('counts are of all, lists are cut', () => {
  const runs = Array.from({ length: 60 }, (_, index) => ({ id: `run-${index}`, before: [], after: [0, index] }));
  const { added, places } = compareFirings(runs, keys);
  expect(added).toBe(60);
  expect(places.added).toHaveLength(50);
  expect(places.added.at(-1)).toEqual({ run: 'run-49', provider: 'loop', call: 50 });
});
