const THOUSANDS = /\B(?=(?:\d{3})+$)/g;

/** Formats a count with thousands separators: `12,449`. */
export function countText(count: number): string {
  return String(count).replaceAll(THOUSANDS, ',');
}

/** Formats a count with its noun: `1 call`, `12 calls`. @param plural  default: the noun with an s */
export function countOf(count: number, word: string, plural = `${word}s`): string {
  return `${countText(count)} ${count === 1 ? word : plural}`;
}

/**
 * Formats a duration: `340 ms`, `1 second`, below two minutes `90 seconds`, below an hour `8 minutes`, else `1.5 hours`.
 * The value is rounded down. A negative duration is `0 ms`.
 */
export function durationText(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  if (seconds < 1) return `${Math.max(0, Math.floor(durationMs))} ms`;
  if (seconds < 120) return countOf(seconds, 'second');
  if (seconds < 3600) return countOf(Math.floor(seconds / 60), 'minute');
  return `${countText(Math.floor(seconds / 3600))}.${Math.floor((seconds % 3600) / 360)} hours`;
}

/** Formats a period as `durationText` does, but from 48 hours on in days: `90 days`. */
export function periodText(spanMs: number): string {
  const days = Math.floor(spanMs / 86_400_000);
  return days < 2 ? durationText(spanMs) : countOf(days, 'day');
}

/** Formats US dollars: `$12.40`. An amount below ten cents has two significant digits: `$0.0042`. */
export function usdText(usd: number): string {
  return `$${usd >= 0.1 || usd === 0 ? usd.toFixed(2) : usd.toPrecision(2)}`;
}

/**
 * Formats `part` of `whole` as a percentage: `31 %`, below ten per cent with one decimal; a dash if it is unknown.
 *
 * @param part  default: of 1, as a share
 */
export function shareText(part: number | null, whole = 1): string {
  if (part === null || whole === 0) return '–';
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.05) return '<0.1 %';
  return `${percent < 9.95 && percent > 0 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** Formats a share with its interval or quartiles: `25 % (8.9–53 %)`; a dash if it is unknown. */
export function rangeText({
  high,
  low,
  share,
}: {
  readonly share: number | null;
  readonly low: number | null;
  readonly high: number | null;
}): string {
  if (share === null || low === null || high === null) return '–';
  return `${shareText(share)} (${shareText(low).replace(' %', '')}–${shareText(high)})`;
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
