/** Formats `part` of `whole` as a percentage, with one decimal place below ten percent and none above. */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return '0 %';
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.05) return '<0.1 %';
  return `${percent < 9.95 && percent > 0 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** Formats a size in bytes: `512 B`, `3.4 MB`. */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${units[unit] ?? ''}`;
}
