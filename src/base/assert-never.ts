import { invalidArgument } from './error.ts';

/** Ends an exhaustive switch: does not compile if a case is missing, throws for invalid data at run time. */
export function assertNever(value: never): never {
  throw invalidArgument(`unexpected value ${JSON.stringify(value)}`);
}
