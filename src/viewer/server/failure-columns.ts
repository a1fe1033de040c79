import type { StretchCounts } from '../../core/base/stretch-counts.ts';

export interface StripMarks {
  /** Ranges of calls, both ends inclusive. */
  readonly stuck: readonly (readonly [number, number])[];
  /** Calls after which advice was delivered. */
  readonly advice: readonly number[];
}

/**
 * Summarises a run with one character per column. In order of precedence: `a` advice, `!` inside a stuck pattern, `x` a failed call, `.`
 * no problem.
 *
 * @param failures  failures counted along the calls
 */
export function failureColumns(failures: StretchCounts, { advice, stuck }: StripMarks): string {
  const columnOf = (call: number): number => Math.floor(Math.max(0, call) / failures.perStretch);
  const cells: string[] = failures.counts().map((count) => (count > 0 ? 'x' : '.'));
  for (const [from, to] of stuck) {
    const last = Math.min(columnOf(to), cells.length - 1);
    for (let column = columnOf(from); column <= last; column += 1) cells[column] = '!';
  }
  for (const call of advice) if (columnOf(call) < cells.length) cells[columnOf(call)] = 'a';
  return cells.join('');
}
