const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Formats a share from 0 to 1 as a bar of `cells` characters, padded with blanks. */
export function barText(share: number, cells: number): string {
  const eighths = Math.round(Math.max(0, Math.min(1, share)) * cells * 8);
  return `${'█'.repeat(eighths >> 3)}${EIGHTHS[eighths & 7] ?? ''}`.padEnd(cells);
}
