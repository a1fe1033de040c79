/** Ids of the runs that a doctor makes and takes away. */
export const CANARY_PREFIX = 'coxswain-doctor-';

/** What a check found: `unknown` where nothing proves either. */
export type DoctorStatus = 'pass' | 'fail' | 'unknown';

/** One line of `coxswain doctor`. Plain JSON. */
export interface DoctorLine {
  /** What was looked at: `hooks`, `store`… */
  readonly check: string;
  readonly status: DoctorStatus;
  /** What was found; text of files and processes, not yet printable. */
  readonly found: string;
  /** What to do, one sentence; absent where all is well. */
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
