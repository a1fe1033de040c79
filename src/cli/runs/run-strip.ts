import type { StretchCounts } from '../../base/stretch-counts.ts';

/** A run at a glance, and how call indices map to its columns. */
export interface StripText {
  /** One character per column: `·` no call failed, `▪` some did, `×` all did. */
  readonly cells: string;
  readonly callsPerColumn: number;
}

/** The strip of a run: a column per call, or per 2, 4, 8 … calls. */
export function stripOf(failures: StretchCounts): StripText {
  const { length, perStretch: callsPerColumn } = failures;
  const cells = failures.counts().map((count, column) => {
    const calls = Math.min(callsPerColumn, length - column * callsPerColumn);
    return count === 0 ? '·' : count < calls ? '▪' : '×';
  });
  return { cells: cells.join(''), callsPerColumn };
}

/** A line under a strip that marks the calls of a pattern: `╶──▲──╴`, with `▲` at the call that flagged it, if any. */
export function spanLine(
  span: { readonly from: number; readonly to: number; readonly flaggedAt: number | null },
  { callsPerColumn }: StripText,
): string {
  const columnOf = (index: number): number => Math.floor(index / callsPerColumn);
  const from = columnOf(span.from);
  const to = Math.max(from, columnOf(span.to));
  const marks = Array.from({ length: to - from + 1 }, () => '─');
  if (marks.length > 1) {
    marks[0] = '╶';
    marks[marks.length - 1] = '╴';
  }
  if (span.flaggedAt !== null) {
    const flag = columnOf(span.flaggedAt) - from;
    if (flag >= 0 && flag < marks.length) marks[flag] = '▲';
  }
  return ' '.repeat(from) + marks.join('');
}
