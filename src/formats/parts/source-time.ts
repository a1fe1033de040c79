import { unixMsOf } from '../../core/base/unix-time.ts';

const ISO_DATE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;
const HAS_ZONE = /(?:Z|[+-]\d\d:?\d\d)$/;

/**
 * Returns the Unix milliseconds of a logged time. Accepts ISO text, which is read as UTC if it has no zone, so that the
 * machine's zone has no effect. Also accepts a Unix time, whose magnitude determines the unit. Undefined for any other value.
 */
export function sourceTimeMs(value: unknown): number | undefined {
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || value <= 0) return undefined;
    return Math.round(unixMsOf(value).ms);
  }
  if (typeof value !== 'string' || value.length > 40 || !ISO_DATE.test(value)) return undefined;
  const parsed = Date.parse(HAS_ZONE.test(value) ? value : `${value}Z`);
  return Number.isNaN(parsed) ? undefined : parsed;
}
