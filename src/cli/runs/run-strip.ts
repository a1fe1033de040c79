import type { StretchCounts } from '../../base/stretch-counts.ts';

/** A strip as text, and how call indices map to its columns. */
export interface StripText {
  /** One character a column: `·` no call failed, `▪` some did, `×` all did. */
  readonly cells: string;
  /** Calls a column stands for. */
  readonly callsPerColumn: number;
}

/** A run at a glance: a column for each call, or for 2, 4, 8 … of them. @param failures  along the calls */
export function stripOf(failures: StretchCounts): StripText {
  const { length, perStretch: callsPerColumn } = failures;
  const cells = failures.counts().map((count, column) => {
    const calls = Math.min(callsPerColumn, length - column * callsPerColumn);
    return count === 0 ? '·' : count < calls ? '▪' : '×';
  });
  return { cells: cells.join(''), callsPerColumn };
}

/** Which calls a mark under the strip covers. */
export interface StripSpan {
  readonly from: number;
  readonly to: number;
  /** The call at which the pattern was flagged; null where it was not. */
  readonly flaggedAt: number | null;
}

/** The line under a strip that shows where a pattern lies: `╶──▲──╴`, with `▲` where it was flagged. */
export function spanLine(span: StripSpan, { callsPerColumn }: StripText): string {
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
