import type { StretchCounts } from '../../base/stretch-counts.ts';

/** A one-line overview of a run, and the mapping from call indices to columns. */
export interface StripText {
  /** One character per column: `·` for no failed call, `▪` for some failed calls, `×` if all calls failed. */
  readonly cells: string;
  readonly callsPerColumn: number;
}

/** Returns the strip of a run. A column represents 1, 2, 4, 8 … calls. */
export function stripOf(failures: StretchCounts): StripText {
  const { length, perStretch: callsPerColumn } = failures;
  const cells = failures.counts().map((count, column) => {
    const calls = Math.min(callsPerColumn, length - column * callsPerColumn);
    return count === 0 ? '·' : count < calls ? '▪' : '×';
  });
  return { cells: cells.join(''), callsPerColumn };
}

/**
 * Returns a line below a strip that marks the calls of a pattern: `╶──▲──╴`. `▲` marks the call that flagged the pattern, if any.
 */
export function spanLine(
  span: { readonly from: number; readonly to: number; readonly flaggedAt: number | null },
  { callsPerColumn }: StripText,
): string {
  const columnOf = (index: number): number => Math.floor(index / callsPerColumn);
  const firstColumn = columnOf(span.from);
  const to = Math.max(firstColumn, columnOf(span.to));
  const marks = Array.from({ length: to - firstColumn + 1 }, () => '─');
  if (marks.length > 1) {
    marks[0] = '╶';
    marks[marks.length - 1] = '╴';
  }
  if (span.flaggedAt !== null) {
    const flag = columnOf(span.flaggedAt) - firstColumn;
    if (flag >= 0 && flag < marks.length) marks[flag] = '▲';
  }
  return ' '.repeat(firstColumn) + marks.join('');
}
