import { CoxswainError, hasCode, messageOf } from '../base/error.ts';

export function storeClosed(): CoxswainError {
  return new CoxswainError('store-closed', 'the store is closed; open it again to use it');
}

export interface DamagedPlace {
  readonly runId: string;
  readonly seq?: number;
}

export function storeDamaged(place: DamagedPlace, problem: string): CoxswainError {
  const { runId, seq } = place;
  const where = `run ${JSON.stringify(runId)}${seq === undefined ? '' : `, seq ${seq}`}`;
  return new CoxswainError(
    'store-damaged',
    `${where}: ${problem}; coxswain verify lists all damage, coxswain recover saves the rest`,
    { details: { ...place, problem } },
  );
}

export function damageText(thrown: unknown): string {
  const problem = thrown instanceof CoxswainError ? thrown.details['problem'] : undefined;
  return typeof problem === 'string' ? problem : messageOf(thrown);
}

/** Returns true for permanent damage. Returns false for a temporary fault. */
export function isDamaged(thrown: unknown): boolean {
  return thrown instanceof CoxswainError && thrown.code === 'store-damaged';
}

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** `store-damaged` if SQLite reports damage, else `store-io`; a `CoxswainError` unchanged. `doing`: such as `append to runs.db`. */
export function toStoreError(thrown: unknown, doing: string): CoxswainError {
  if (thrown instanceof CoxswainError) return thrown;
  // node:sqlite throws ERR_OUT_OF_RANGE for an integer beyond 2⁵³, which only damage writes.
  const isCorrupt = ((errcodeOf(thrown) ?? 0) & 0xff) === SQLITE_CORRUPT || hasCode(thrown, 'ERR_OUT_OF_RANGE');
  const code = isCorrupt || isNotADatabase(thrown) ? 'store-damaged' : 'store-io';
  const advice = isCorrupt ? '; coxswain recover saves what can be read' : '';
  return new CoxswainError(code, `cannot ${doing}: ${messageOf(thrown)}${advice}`, { cause: thrown });
}

export function isNotADatabase(thrown: unknown): boolean {
  return errcodeOf(thrown) === SQLITE_NOTADB;
}

export function errcodeOf(thrown: unknown): number | undefined {
  return thrown instanceof Error && 'errcode' in thrown && typeof thrown.errcode === 'number'
    ? thrown.errcode
    : undefined;
}
