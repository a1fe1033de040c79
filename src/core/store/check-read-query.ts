import { invalidArgument } from '../base/error.ts';
import type { ReadQuery } from './trajectory-store.ts';

/**
 * Checks a `ReadQuery` and fills in its defaults.
 *
 * @throws CoxswainError `invalid-argument` for a value that is not a whole number from 0
 */
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
