import { timeoutOf } from '../../../hosts/claude-code/init-hooks.ts';

/** Claude Code ends a hook after this time. On a machine that is so busy, sessions are not recorded either. */
export const HOST_LIMIT_MS: number = timeoutOf('UserPromptSubmit') * 1_000;

export type DoctorStatus = 'pass' | 'fail' | 'unknown';

export interface DoctorLine {
  readonly check: string;
  readonly status: DoctorStatus;
  /** The result of the check. Contains text of files and processes; pass it through `printable` before showing it. */
  readonly found: string;
  readonly fix?: string;
}

export function passed(check: string, found: string): DoctorLine {
  return { check, status: 'pass', found };
}

export function failed(check: string, found: string, fix: string): DoctorLine {
  return { check, status: 'fail', found, fix };
}

export function unknown(check: string, found: string, fix: string): DoctorLine {
  return { check, status: 'unknown', found, fix };
}

/** Resolves to the result of `work`, or to `fallback` after `limitMs`. A later result or error is ignored. */
export async function resolveWithin<Value, Late>(
  work: Promise<Value>,
  limitMs: number,
  fallback: Late,
): Promise<Value | Late> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(fallback), limitMs);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
