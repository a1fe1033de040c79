import type { AdapterOptions, RunSource } from './adapter-options.ts';

/** Runs part of an adapter's work so that an internal error cannot reach the agent. */
export interface Guard {
  <Result>(where: string, work: () => Result, otherwise: Result): Result;
  /** Returns undefined after an internal error. */
  <Result>(where: string, work: () => Result): Result | undefined;
}

/** Under `record`, an internal error is recorded in the run and `otherwise` returned; under `throw`, it is rethrown. */
export function guarded(source: RunSource, options: Pick<AdapterOptions, 'onError'> = {}): Guard {
  return <Result>(where: string, work: () => Result, otherwise?: Result) => {
    try {
      return work();
    } catch (error) {
      (typeof source === 'function' ? source() : source).reportFault(where, error);
      if (options.onError === 'throw') throw error;
      return otherwise;
    }
  };
}
