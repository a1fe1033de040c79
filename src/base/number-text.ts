const THOUSANDS = /\B(?=(?:\d{3})+$)/g;

/** A count with thousands separators: `12,449`. */
export function countText(count: number): string {
  return String(count).replaceAll(THOUSANDS, ',');
}

/** A count and its word: `1 call`, `12 calls`. @param plural  default: the word with an s */
export function countOf(count: number, word: string, plural = `${word}s`): string {
  return `${countText(count)} ${count === 1 ? word : plural}`;
}

/**
 * A duration: `340 ms`, `1 second`, under two minutes `90 seconds`, under an hour `8 minutes`, else `1.5 hours`. Rounded
 * down; a negative duration is `0 ms`.
 */
export function durationText(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  if (seconds < 1) return `${Math.max(0, Math.floor(durationMs))} ms`;
  if (seconds < 120) return countOf(seconds, 'second');
  if (seconds < 3600) return countOf(Math.floor(seconds / 60), 'minute');
  return `${countText(Math.floor(seconds / 3600))}.${Math.floor((seconds % 3600) / 360)} hours`;
}

/** US dollars: `$12.40`, below ten cents with two significant digits: `$0.0042`. */
export function usdText(usd: number): string {
  return `$${usd >= 0.1 || usd === 0 ? usd.toFixed(2) : usd.toPrecision(2)}`;
}
