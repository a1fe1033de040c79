import { CoxswainError } from '../base/error.ts';

/**
 * What a refused append calls for.
 *
 * - `retry`: the medium refused; it may take the same batch later
 * - `hole`: the sink wants earlier records first
 * - `spoiled`: some record of the batch cannot be stored
 * - `refused`: the sink holds something else under this run's id
 * - `over`: the sink takes nothing any more
 */
export type AppendFault = 'retry' | 'hole' | 'spoiled' | 'refused' | 'over';

/** Sorts what `append` threw. What is no `CoxswainError` comes from the medium. */
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
      return 'retry';
    default:
      return 'spoiled';
  }
}

/** The `seq` that the sink waits for, where a `store-gap` says it. */
export function expectedSeqOf(error: unknown): number | undefined {
  if (!(error instanceof CoxswainError) || error.code !== 'store-gap') return undefined;
  const expected = error.details['expected'];
  return typeof expected === 'number' ? expected : undefined;
}
