/** A count with its thousands apart: `12,449`. */
export function countText(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** A count and its word: `1 call`, `12 calls`. */
export function countOf(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `part` of `whole` in per cent: one digit below ten, none above. */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return '0 %';
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.05) return '<0.1 %';
  return `${percent < 9.95 && percent > 0 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** A time span: `340 ms`, `90 seconds`, `8 minutes`, `1.5 hours`; rounded down. */
export function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 1) return `${Math.floor(ms)} ms`;
  if (seconds < 120) return countOf(seconds, 'second');
  if (seconds < 3600) return countOf(Math.floor(seconds / 60), 'minute');
  return `${countText(Math.floor(seconds / 3600))}.${Math.floor((seconds % 3600) / 360)} hours`;
}

/** Bytes in the unit that fits: `512 B`, `3.4 MB`. */
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
