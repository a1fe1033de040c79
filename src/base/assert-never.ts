import { invalidArgument } from './error.ts';

/** Ends an exhaustive switch: a compile error when a case is missing, a `CoxswainError` if data lies at run time. */
export function assertNever(value: never): never {
  throw invalidArgument(`unexpected value ${JSON.stringify(value)}`);
}
