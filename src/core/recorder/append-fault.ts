import { CoxswainError, messageOf } from '../base/error.ts';
import { redactText, type RedactTextOptions } from '../redact/redact-text.ts';

/**
 * The reason why an append failed.
 *
 * - `retry`: an I/O fault; the same batch may succeed later
 * - `hole`: the sink expects earlier records first
 * - `spoiled`: a record of the batch cannot be stored
 * - `refused`: the sink contains other records with this run's id
 * - `over`: the sink accepts no more records
 */
type AppendFault = 'retry' | 'hole' | 'spoiled' | 'refused' | 'over';

/** Classifies an error that `append` threw. Any error except a `CoxswainError` is an I/O fault. */
export function appendFault(error: unknown): AppendFault {
  if (!(error instanceof CoxswainError)) return 'retry';
  switch (error.code) {
    case 'store-gap':
      return 'hole';
    case 'store-conflict':
    case 'run-exists':
      return 'refused';
    case 'store-closed':
    case 'store-version':
      return 'over';
    case 'store-io':
    case 'trajectory-io':
      return 'retry';
    default:
      return 'spoiled';
  }
}

/** Returns the `seq` that the sink expects, according to a `store-gap` error. */
export function expectedSeqOf(error: unknown): number | undefined {
  if (!(error instanceof CoxswainError) || error.code !== 'store-gap') return undefined;
  const expected = error.details['expected'];
  return typeof expected === 'number' ? expected : undefined;
}

const EVERY_RULE: RedactTextOptions = { off: new Set(), allows: () => false, named: true };

/**
 * Returns the message of an error, with secrets redacted by all built-in rules. The message of a store may contain an
 * address with credentials, and the message of user code may contain any text.
 */
export function faultText(error: unknown): string {
  return redactText(messageOf(error), EVERY_RULE);
}
