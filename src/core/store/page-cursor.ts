import { Buffer } from 'node:buffer';
import { invalidArgument } from '../base/error.ts';
import type { ReadQuery } from './trajectory-store.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;

/** 1 to 1,000, default 50. Throws CoxswainError `invalid-argument` for any other value. */
export function checkPageLimit(limit: number = DEFAULT_LIMIT): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalidArgument(`limit must be a whole number from 1 to ${MAX_LIMIT}, got ${limit}`);
}

export function writePageCursor(position: readonly (number | string)[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** Throws CoxswainError `invalid-argument` for any other text. `toPosition` returns undefined for invalid parts. */
export function readPageCursor<Place>(
  cursor: string,
  toPosition: (parts: readonly unknown[]) => Place | undefined,
): Place {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    parts = undefined;
  }
  // A cursor must have exactly the text that `writePageCursor` writes. Other encodings of the same position are refused.
  const position = Array.isArray(parts) && writePageCursor(parts) === cursor ? toPosition(parts) : undefined;
  if (position !== undefined) return position;
  throw invalidArgument(`after must be "next" of an earlier page, got ${JSON.stringify(cursor.slice(0, 80))}`);
}

/** @throws CoxswainError `invalid-argument` for a value that is not a whole number from 0 */
export function checkReadQuery(query: ReadQuery = {}): { readonly fromSeq: number; readonly limit: number } {
  const fromSeq = query.fromSeq ?? 0;
  const limit = query.limit ?? Number.MAX_SAFE_INTEGER;
  for (const [name, value] of Object.entries({ fromSeq, limit })) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw invalidArgument(`${name} must be a whole number from 0, got ${value}`);
    }
  }
  return { fromSeq, limit };
}
