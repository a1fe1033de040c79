const THOUSANDS = /\B(?=(?:\d{3})+$)/g;

export function countText(count: number): string {
  return String(count).replaceAll(THOUSANDS, ',');
}

export function countOf(count: number, word: string, plural = `${word}s`): string {
  return `${countText(count)} ${count === 1 ? word : plural}`;
}

/** Such as `340 ms`, `90 seconds` (below two minutes), `8 minutes` (below an hour), `1.5 hours`; rounded down, never negative. */
export function durationText(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  if (seconds < 1) return `${Math.max(0, Math.floor(durationMs))} ms`;
  if (seconds < 120) return countOf(seconds, 'second');
  if (seconds < 3600) return countOf(Math.floor(seconds / 60), 'minute');
  return `${countText(Math.floor(seconds / 3600))}.${Math.floor((seconds % 3600) / 360)} hours`;
}

/** As `durationText`, rounded to the nearest unit. */
export function roundedDurationText(durationMs: number): string {
  const stepMs = durationMs < 120_000 ? 1_000 : durationMs < 3_600_000 ? 60_000 : 360_000;
  return durationText(durationMs < 1_000 ? durationMs : Math.round(durationMs / stepMs) * stepMs);
}

export function periodText(spanMs: number): string {
  const days = Math.floor(spanMs / 86_400_000);
  return days < 2 ? durationText(spanMs) : countOf(days, 'day');
}

export function usdText(usd: number): string {
  return `$${usd >= 0.1 || usd === 0 ? usd.toFixed(2) : usd.toPrecision(2)}`;
}

/** Below ten per cent with one decimal; a dash if unknown. `part`: default: of 1, as a share. */
export function shareText(part: number | null, whole = 1): string {
  if (part === null || whole === 0) return '–';
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.05) return '<0.1 %';
  return `${percent < 9.95 && percent > 0 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** Formats a share with its interval or quartiles, with enough digits that they differ: `25 % (8.9–53 %)`; a dash if it is unknown. */
export function rangeText({ high, low, share }: Readonly<Record<'share' | 'low' | 'high', number | null>>): string {
  if (share === null || low === null || high === null) return '–';
  const texts = (decimals?: number): readonly string[] =>
    [share, low, high].map((value) =>
      decimals === undefined || value === 0 || value === 1 ? shareText(value) : `${(100 * value).toFixed(decimals)} %`,
    );
  const shown = [undefined, 1, 2, 3, 4]
    .map(texts)
    .find(([, from, to]) => low === high || (from !== to && !/^[<]|^0\.0+ /.test(to ?? '')));
  const [middle, from = '', to] = shown ?? texts(4);
  return `${middle} (${from.replace(' %', '')}–${to})`;
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

/** A number above 0 with a unit: `500MB`, `2GB`, `1.5GiB`. */
export const BYTES_TEXT: RegExp = /^(?=.*[1-9])(\d{1,9}(?:\.\d{1,3})?) ?(B|[kK]B|MB|GB|TB|KiB|MiB|GiB|TiB)$/;

const FACTORS: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
};

/** `500MB` (powers of 1,000) or `2GiB` (powers of 1,024); from 1 byte. Undefined for invalid text. */
export function parseBytes(text: string): number | undefined {
  const [, digits, unit = ''] = BYTES_TEXT.exec(text) ?? [];
  return digits === undefined ? undefined : Math.max(1, Math.floor(Number(digits) * (FACTORS[unit] ?? 0)));
}

/** Weeks to seconds as whole numbers, in this order, at least one above 0: `45m`, `1h30m`, `30d`. */
export const DURATION_TEXT: RegExp =
  /^(?=.*[1-9])(?:(\d{1,6})w)?(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/;

const UNITS_MS = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1_000] as const;

/** `45m`, `1h30m`, `90s` or `30d`, in milliseconds above 0. Undefined for invalid text. */
export function parseDuration(text: string): number | undefined {
  const parts = DURATION_TEXT.exec(text)?.slice(1);
  return parts?.reduce((sum, digits: string | undefined, unit) => sum + Number(digits ?? 0) * (UNITS_MS[unit] ?? 0), 0);
}

export function callNumber(index: number): number {
  return index + 1;
}
