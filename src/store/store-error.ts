import { CoxswainError, messageOf } from '../base/error.ts';

/** The error of every call after `close()`. */
export function storeClosed(): CoxswainError {
  return new CoxswainError('store-closed', 'the store is closed; open it again to use it');
}

/** Where damage was found. */
export interface DamagedPlace {
  readonly runId: string;
  /** Absent for a run's summary or snapshot. */
  readonly seq?: number;
}

/** The error of a row that is not what was written. */
export function storeDamaged(place: DamagedPlace, problem: string): CoxswainError {
  const { runId, seq } = place;
  const where = `run ${JSON.stringify(runId)}${seq === undefined ? '' : `, seq ${seq}`}`;
  return new CoxswainError(
    'store-damaged',
    `${where}: ${problem}; coxswain verify lists all damage, coxswain recover saves the rest`,
    { details: { ...place, problem } },
  );
}

/** What is wrong, for a list that names the place and says by itself what can be done. */
export function damageText(thrown: unknown): string {
  const problem = thrown instanceof CoxswainError ? thrown.details['problem'] : undefined;
  return typeof problem === 'string' ? problem : messageOf(thrown);
}

/** True for damage of what is stored, as opposed to a fault that may pass. */
export function isDamaged(thrown: unknown): boolean {
  return thrown instanceof CoxswainError && thrown.code === 'store-damaged';
}

/** SQLite's codes for a page that does not fit the file format, and for a file whose first page does not. */
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/**
 * What a driver throws for something its medium threw: `store-io`, or `store-damaged` where SQLite finds the file damaged,
 * with the medium's message and the fault as `cause`. A `CoxswainError` stays as it is.
 *
 * @param doing  what was being done and with which file, such as `append to runs.db`
 */
export function toStoreError(thrown: unknown, doing: string): CoxswainError {
  if (thrown instanceof CoxswainError) return thrown;
  const code = isDamage(thrown) ? 'store-damaged' : 'store-io';
  return new CoxswainError(code, `cannot ${doing}: ${messageOf(thrown)}`, { cause: thrown });
}

function isDamage(thrown: unknown): boolean {
  return isNotADatabase(thrown) || ((errcodeOf(thrown) ?? 0) & 0xff) === SQLITE_CORRUPT;
}

/** True for "file is not a database" of SQLite. */
export function isNotADatabase(thrown: unknown): boolean {
  return errcodeOf(thrown) === SQLITE_NOTADB;
}

function errcodeOf(thrown: unknown): number | undefined {
  return thrown instanceof Error && 'errcode' in thrown && typeof thrown.errcode === 'number'
    ? thrown.errcode
    : undefined;
}
