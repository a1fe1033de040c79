import type { Run } from '../run/run.ts';
import type { AdapterOptions } from './adapter-options.ts';

/** Runs a piece of an adapter's work so that a fault in it cannot reach the agent. */
export type Guard = <Result>(where: string, work: () => Result, otherwise: Result) => Result;

/**
 * The guard of an adapter. Under `onError: 'record'` it records a fault in `run` and returns `otherwise`; under `throw` it
 * rethrows.
 */
export function guarded(run: Run, options: Pick<AdapterOptions, 'onError'> = {}): Guard {
  return (where, work, otherwise) => {
    try {
      return work();
    } catch (error) {
      run.reportFault(where, error);
      if (options.onError === 'throw') throw error;
      return otherwise;
    }
  };
}
