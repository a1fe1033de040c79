/**
 * Aligns rows of cells in columns. The first column and the columns in `leftAligned` are left-aligned. Other columns are
 * right-aligned.
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
