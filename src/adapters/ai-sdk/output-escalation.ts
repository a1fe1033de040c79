import { CoxswainError } from '../../base/error.ts';

/** How an answer that the output cap cut off is asked for again. Every attempt is paid for. */
export interface OutputEscalation {
  /** The next cap is the last one times this; from 1.1, default 4. */
  readonly factor?: number;
  /** No cap goes beyond this many tokens; default 64,000, which the large models of 2026 allow. */
  readonly maxTokens?: number;
  /** Most times an answer is asked for again; default 3. */
  readonly maxAttempts?: number;
}

/** One more attempt. */
export interface EscalatedAttempt {
  /** 1 for the first time an answer is asked for again. */
  readonly attempt: number;
  readonly previousCap: number;
  readonly newCap: number;
}

/** @throws CoxswainError "invalid-argument" for a number outside its range */
export function checkEscalation(options: OutputEscalation): Required<OutputEscalation> {
  const { factor = 4, maxTokens = 64_000, maxAttempts = 3 } = options;
  check('factor', factor, factor >= 1.1 && factor <= 100, 'from 1.1 to 100');
  check('maxTokens', maxTokens, Number.isSafeInteger(maxTokens) && maxTokens >= 1, 'a whole number from 1');
  check('maxAttempts', maxAttempts, Number.isSafeInteger(maxAttempts) && maxAttempts >= 0, 'a whole number from 0');
  return { factor, maxTokens, maxAttempts };
}

/**
 * The next attempt after one that was cut off.
 *
 * @param attempts  made so far
 * @param cap  of the answer that was cut off: as the request states it, else the tokens it came to; undefined: unknown
 * @returns undefined when it is enough
 */
export function nextAttempt(
  { factor, maxTokens, maxAttempts }: Required<OutputEscalation>,
  attempts: number,
  cap: number | undefined,
): EscalatedAttempt | undefined {
  if (cap === undefined || cap < 1 || attempts >= maxAttempts) return undefined;
  const newCap = Math.min(Math.ceil(cap * factor), maxTokens);
  return newCap > cap ? { attempt: attempts + 1, previousCap: cap, newCap } : undefined;
}

function check(name: string, value: unknown, ok: boolean, range: string): void {
  if (ok) return;
  throw new CoxswainError('invalid-argument', `outputEscalation.${name} must be ${range}, got ${String(value)}`, {
    details: { name, value },
  });
}
