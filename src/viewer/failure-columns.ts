import { StretchCounts } from '../base/stretch-counts.ts';

/** Most characters of a strip. */
const MAX_COLUMNS = 60;

/** Counts the failures of a run by stretches of calls: one call a column, then 2, 4, 8 …, 60 columns at most. */
export class FailureColumns {
  readonly #failures = new StretchCounts(MAX_COLUMNS);

  /** Takes the call at `index` in, and as failed where it did. */
  mark(index: number, failed: boolean): void {
    this.#failures.mark(index, failed);
  }

  /**
   * The run at a glance, a character a column: `a` advice was given, `!` in a stuck pattern, `x` a call failed, `.` none did; the
   * first of these that holds.
   *
   * @param stuck  stretches of calls, both ends included
   * @param advice  calls after which advice was given
   */
  text(stuck: readonly (readonly [number, number])[], advice: readonly number[]): string {
    const columnOf = (call: number): number => Math.floor(Math.max(0, call) / this.#failures.perStretch);
    const cells: string[] = this.#failures.counts().map((failures) => (failures > 0 ? 'x' : '.'));
    for (const [from, to] of stuck) {
      const last = Math.min(columnOf(to), cells.length - 1);
      for (let column = columnOf(from); column <= last; column += 1) cells[column] = '!';
    }
    for (const call of advice) if (columnOf(call) < cells.length) cells[columnOf(call)] = 'a';
    return cells.join('');
  }
}
