/** Most characters of a strip. */
const MAX_COLUMNS = 60;

/** Counts the failures of a run by stretches of calls: one call a column, then 2, 4, 8 …, 60 columns at most. */
export class FailureColumns {
  #failures: number[] = [];
  #callsPerColumn = 1;
  #calls = 0;

  /** Takes the call at `index` in, and as failed where it did. */
  mark(index: number, failed: boolean): void {
    this.#calls = Math.max(this.#calls, index + 1);
    while (Math.floor(index / this.#callsPerColumn) >= MAX_COLUMNS) this.#merge();
    if (!failed) return;
    const column = Math.floor(index / this.#callsPerColumn);
    this.#failures[column] = (this.#failures[column] ?? 0) + 1;
  }

  /**
   * The run at a glance, a character a column: `a` advice was given, `!` in a stuck pattern, `x` a call failed, `.` none did; the
   * first of these that holds.
   *
   * @param stuck  stretches of calls, both ends included
   * @param advice  calls after which advice was given
   */
  text(stuck: readonly (readonly [number, number])[], advice: readonly number[]): string {
    const columnOf = (call: number): number => Math.floor(Math.max(0, call) / this.#callsPerColumn);
    const cells: string[] = Array.from({ length: Math.ceil(this.#calls / this.#callsPerColumn) }, (_, column) =>
      (this.#failures[column] ?? 0) > 0 ? 'x' : '.',
    );
    for (const [from, to] of stuck) {
      const last = Math.min(columnOf(to), cells.length - 1);
      for (let column = columnOf(from); column <= last; column += 1) cells[column] = '!';
    }
    for (const call of advice) if (columnOf(call) < cells.length) cells[columnOf(call)] = 'a';
    return cells.join('');
  }

  #merge(): void {
    const merged: number[] = [];
    for (const [column, failures] of this.#failures.entries()) {
      const into = Math.floor(column / 2);
      // Columns without a failure are holes.
      merged[into] = (merged[into] ?? 0) + ((failures as number | undefined) ?? 0);
    }
    this.#failures = merged;
    this.#callsPerColumn *= 2;
  }
}
