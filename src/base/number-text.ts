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

/** Formats a share in per cent, or a dash if it is unknown. */
export function percentText(share: number | null): string {
  return share === null ? '–' : `${Math.round(100 * share)} %`;
}
