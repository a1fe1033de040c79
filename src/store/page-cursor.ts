import { Buffer } from 'node:buffer';

import { invalidArgument } from '../base/error.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;

/**
 * How many items a page holds: 1 to 1,000, default 50.
 *
 * @throws CoxswainError `invalid-argument` for anything else
 */
export function checkPageLimit(limit: number = DEFAULT_LIMIT): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalidArgument(`limit must be a whole number from 1 to ${MAX_LIMIT}, got ${limit}`);
}

/** The place where a page ended, as the text that the next one is asked for with. */
export function writePageCursor(place: readonly (number | string)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/**
 * Reads what `writePageCursor` wrote.
 *
 * @param toPlace  makes a place of the parts, or undefined where they are none
 * @throws CoxswainError `invalid-argument` for a text that no page gave
 */
export function readPageCursor<Place>(
  cursor: string,
  toPlace: (parts: readonly unknown[]) => Place | undefined,
): Place {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    parts = undefined;
  }
  // What decodes to the same place but was written otherwise is no cursor either. A place is of texts and numbers.
  const place = Array.isArray(parts) && writePageCursor(parts) === cursor ? toPlace(parts) : undefined;
  if (place !== undefined) return place;
  throw invalidArgument(`after must be the next of an earlier page, got ${JSON.stringify(cursor.slice(0, 80))}`);
}
