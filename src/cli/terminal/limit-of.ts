import { CoxswainError } from '../../base/error.ts';

/** What `--limit` says: 1 to 1,000, default 50. @throws CoxswainError `invalid-argument` */
export function limitOf(text: string | undefined): number {
  if (text === undefined) return 50;
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= 1000) return limit;
  throw new CoxswainError('invalid-argument', `--limit ${text}: give a whole number from 1 to 1000`);
}
