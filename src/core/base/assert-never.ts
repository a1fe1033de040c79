import { invalidArgument } from './error.ts';

/**
 * Ends an exhaustive switch. The code does not compile if a case is missing. At run time, the function throws for invalid
 * data.
 */
export function assertNever(value: never): never {
  throw invalidArgument(`unexpected value ${JSON.stringify(value)}`);
}
