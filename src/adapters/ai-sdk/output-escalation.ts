import { CoxswainError } from '../../base/error.ts';

/** Repetition of answers truncated by the output cap. Every attempt costs tokens. */
export interface OutputEscalation {
  /** Factor between caps; at least 1.1, default 4. */
  readonly factor?: number;
  /** Highest cap in tokens; default 64,000, which the large models of 2026 allow. */
  readonly maxTokens?: number;
  /** Most repetitions per answer; default 3. */
  readonly maxAttempts?: number;
}

/** One more attempt. */
export interface EscalatedAttempt {
  /** 1 for the first repetition. */
  readonly attempt: number;
  readonly previousCap: number;
  readonly newCap: number;
}

/** @throws CoxswainError "invalid-argument" for a number out of range */
export function checkEscalation(options: OutputEscalation): Required<OutputEscalation> {
  const { factor = 4, maxTokens = 64_000, maxAttempts = 3 } = options;
  check('factor', factor, factor >= 1.1 && factor <= 100, 'from 1.1 to 100');
  check('maxTokens', maxTokens, Number.isSafeInteger(maxTokens) && maxTokens >= 1, 'a whole number from 1');
  check('maxAttempts', maxAttempts, Number.isSafeInteger(maxAttempts) && maxAttempts >= 0, 'a whole number from 0');
  return { factor, maxTokens, maxAttempts };
}

/**
 * The next attempt after a truncated answer.
 *
 * @param attempts  made before
 * @param cap  of the truncated answer: from the request, else its token count; undefined: unknown
 * @returns undefined at the limit
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
