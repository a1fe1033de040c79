/**
 * Weeks, days, hours, minutes and seconds as whole numbers, in this order. At least one must be above 0: `45m`, `1h30m`,
 * `30d`.
 */
export const DURATION_TEXT: RegExp =
  /^(?=.*[1-9])(?:(\d{1,6})w)?(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/;

const UNITS_MS = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1_000] as const;

/**
 * Parses a duration such as `45m`, `1h30m`, `90s` or `30d` to milliseconds above 0. Returns undefined if the text is
 * invalid.
 */
export function parseDuration(text: string): number | undefined {
  const parts = DURATION_TEXT.exec(text)?.slice(1);
  return parts?.reduce((sum, digits: string | undefined, unit) => sum + Number(digits ?? 0) * (UNITS_MS[unit] ?? 0), 0);
}
