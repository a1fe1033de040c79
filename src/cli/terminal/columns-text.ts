/**
 * Rows of cells as lines, each column as wide as its widest cell: the first column and those of `leftAligned` begin at the left,
 * the others end at the right.
 */
export function columnsText(rows: readonly (readonly string[])[], leftAligned: readonly number[]): readonly string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  const isLeft = new Set([0, ...leftAligned]);
  return rows.map((row) =>
    row
      .map((cell, at) => (isLeft.has(at) ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
