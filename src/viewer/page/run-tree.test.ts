import { expect, test } from 'vitest';

import type { ListedRow } from '../server/api-shapes.ts';
import { placeRuns } from './run-tree.ts';

function runOf(runId: string, parentRunId?: string): ListedRow {
  return {
    runId,
    ...(parentRunId === undefined ? {} : { parentRunId }),
    source: '0',
    title: runId,
    depth: 0,
    startedAtMs: 0,
    lastAtMs: 0,
    records: 1,
    lastSeq: 0,
    turns: 0,
    calls: 0,
    errors: 0,
    extras: false,
    childCount: 0,
    live: false,
    group: 'done',
    pendingCalls: 0,
  };
}

const shape = (rows: readonly ListedRow[], closed: readonly string[] = []): readonly string[] =>
  placeRuns(rows, new Set(closed)).map(({ run, depth }) => `${'-'.repeat(depth)}${run.runId}`);

test('child runs are listed below their parents, in the order of the list', () => {
  const rows = [runOf('grandchild', 'child'), runOf('child', 'parent'), runOf('lone', 'far away'), runOf('parent')];
  expect(shape(rows)).toEqual(['lone', 'parent', '-child', '--grandchild']);
});

test('descendants of a closed run are hidden', () => {
  const rows = [runOf('parent'), runOf('child', 'parent'), runOf('grandchild', 'child'), runOf('other')];
  expect(shape(rows, ['0/parent'])).toEqual(['parent', 'other']);
});

test('runs with cyclic parents are listed once each', () => {
  expect(shape([runOf('a', 'b'), runOf('b', 'a'), runOf('self', 'self')])).toEqual(['self', 'a', '-b']);
});
