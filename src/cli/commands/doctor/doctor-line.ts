/** Prefix of the ids of the runs that `doctor` creates and deletes. */
export const CANARY_PREFIX = 'coxswain-doctor-';

export type DoctorStatus = 'pass' | 'fail' | 'unknown';

/** One line of `coxswain doctor`. Plain JSON. */
export interface DoctorLine {
  /** The name of the check: `hooks`, `store`… */
  readonly check: string;
  readonly status: DoctorStatus;
  /** The finding; text of files and processes, not yet printable. */
  readonly found: string;
  /** The fix, in one sentence; absent for `pass`. */
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
