import { expect, test } from 'vitest';

import type { RunRow } from '../server/api-shapes.ts';
import { foldRows, itemsOf, Rows, type Fold } from './rows.ts';

const NONE: ReadonlySet<number> = new Set();

function callRow(call: number, more: Partial<RunRow> = {}): RunRow {
  return { seq: 10 * call, end: 10 * call + 1, kind: 'call', call, tool: 'execute', ...more };
}

function said(seq: number, kind: 'answer' | 'thinking' = 'answer'): RunRow {
  return { seq, kind };
}

function shapeOf(rows: readonly RunRow[], kept = NONE): readonly (number | string)[] {
  return foldRows(rows, kept).map((part) => ('why' in part ? `${part.why} ${part.rows.length}` : part.seq));
}

test('equal calls after the first are one line, with the words of the agent between them', () => {
  const rows = [callRow(1), said(15), callRow(2, { same: 1 }), callRow(3, { same: 1 }), callRow(4)];
  expect(shapeOf(rows)).toEqual([10, 'equal 3', 40]);
  expect(shapeOf(rows.slice(0, 3))).toEqual([10, 15, 20]);
});

test('calls that failed with the same line are one line after the first, whatever their arguments', () => {
  const failed = { failed: true, failure: 'no rule' } as const;
  const rows = [callRow(1, failed), callRow(2, failed), callRow(3, failed), callRow(4, { failure: 'other' })];
  expect(shapeOf(rows)).toEqual([10, 'failure 2', 40]);
});

test('reads in a row are one line, which an answer ends and a thought does not; evidence of a pattern stays visible', () => {
  const read = { tool: 'read', target: 'a.ts' } as const;
  const reads = [callRow(1, read), said(15, 'thinking'), callRow(2, read), callRow(3, read)];
  expect(shapeOf(reads)).toEqual(['reads 4']);
  expect(shapeOf([callRow(1, read), said(15), callRow(2, read), callRow(3, read)])).toEqual([10, 15, 20, 30]);
  expect(shapeOf(reads, new Set([2]))).toEqual([10, 15, 20, 30]);
});

test('a call without a result is never folded', () => {
  const { end: _end, ...open } = callRow(3, { tool: 'read' });
  expect(shapeOf([callRow(1, { tool: 'read' }), callRow(2, { tool: 'read' }), open])).toEqual([10, 20, 30]);
});

test('an open fold keeps its line and shows its rows below it', () => {
  const rows = [callRow(1), callRow(2, { same: 1 }), callRow(3, { same: 1 })];
  const shown = foldRows(rows, NONE);
  const fold = shown[1] as Fold;
  expect(itemsOf(shown, () => false)).toEqual([{ row: rows[0] }, { fold, isOpen: false }]);
  expect(itemsOf(shown, () => true)).toEqual([
    { row: rows[0] },
    { fold, isOpen: true },
    { row: rows[1] },
    { row: rows[2] },
  ]);
});

test('a record is shown by its own row, a result by the row of its call, and any other record by the next row', () => {
  const rows = new Rows([said(2), callRow(1), said(30)]);
  expect([2, 10, 11, 12, 0, 99].map((seq) => rows.rowOf(seq)?.seq)).toEqual([2, 10, 10, 30, 2, 30]);
  expect([rows.callAt(5), rows.callAt(10), rows.callAt(99), rows.seqOf(1), rows.seqOf(2)]).toEqual([
    0,
    1,
    1,
    10,
    undefined,
  ]);
});

test('rows are fetched again from the first call without a result', () => {
  const { end: _end, ...open } = callRow(2);
  const rows = new Rows([callRow(1), open, said(25)]);
  expect(rows.firstOpen).toBe(1);
  const next = rows.replaceFrom(1, [callRow(2), said(25), said(26)]);
  expect([next.firstOpen, next.list.length]).toEqual([4, 4]);
});
