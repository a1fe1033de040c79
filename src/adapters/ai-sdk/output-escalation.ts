import { invalidArgument } from '../../base/error.ts';

/** Options for repeating answers that were truncated by the output cap. Every attempt costs tokens. */
export interface OutputEscalation {
  /** Factor by which each attempt raises the cap; at least 1.1, default 4. */
  readonly factor?: number;
  /** Highest cap in tokens; default 64,000, which the large models of 2026 support. */
  readonly maxTokens?: number;
  /** Maximum number of repetitions per answer; default 3. */
  readonly maxAttempts?: number;
}

/** An additional attempt with a higher cap. */
export interface EscalatedAttempt {
  /** Number of the repetition, starting at 1. */
  readonly attempt: number;
  readonly prevCap: number;
  readonly newCap: number;
}

/** @throws CoxswainError "invalid-argument" for a number out of range */
export function checkEscalation(options: OutputEscalation): Required<OutputEscalation> {
  const { factor = 4, maxTokens = 64_000, maxAttempts = 3 } = options;
  checkOption('factor', factor, factor >= 1.1 && factor <= 100, 'from 1.1 to 100');
  checkOption('maxTokens', maxTokens, Number.isSafeInteger(maxTokens) && maxTokens >= 1, 'a whole number from 1');
  checkOption(
    'maxAttempts',
    maxAttempts,
    Number.isSafeInteger(maxAttempts) && maxAttempts >= 0,
    'a whole number from 0',
  );
  return { factor, maxTokens, maxAttempts };
}

/**
 * Returns the next attempt after a truncated answer.
 *
 * @param attempts  number of attempts made before
 * @param cap  cap of the truncated answer, from the request or else from its token count; undefined if unknown
 * @returns undefined if a limit is reached
 */
export function nextAttempt(
  { factor, maxTokens, maxAttempts }: Required<OutputEscalation>,
  attempts: number,
  cap: number | undefined,
): EscalatedAttempt | undefined {
  if (cap === undefined || cap < 1 || attempts >= maxAttempts) return undefined;
  const newCap = Math.min(Math.ceil(cap * factor), maxTokens);
  return newCap > cap ? { attempt: attempts + 1, prevCap: cap, newCap } : undefined;
}

function checkOption(name: string, value: unknown, isValid: boolean, range: string): void {
  if (isValid) return;
  throw invalidArgument(`outputEscalation.${name} must be ${range}, got ${String(value)}`, {
    details: { name, value },
  });
}
