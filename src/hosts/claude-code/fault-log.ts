import { closeSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs';

import { appendGuarded } from '../../base/guarded-file.ts';
import { makeStateFolder, stateFile, type StateOwner } from '../../base/state-places.ts';

/** A fault in coxswain, which the agent does not see. */
export interface HookFault {
  /** Where in our code, in a few words: `input`, `config`, `store`. */
  readonly where: string;
  /** Never contains content of the session. */
  readonly message: string;
  /** The hook's event, if known. */
  readonly event?: string;
  readonly sessionId?: string;
}

/** A line of the log. */
export interface FaultLine extends HookFault {
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** The owner of a fault log: a project, or the user. */
export interface FaultLogPlace extends StateOwner {
  readonly nowMs: number;
}

/** Limit of logged configuration problems, so that they do not push other faults out of the log. */
export const MAX_CONFIG_FAULTS = 3;

/** A log of this size is rotated; one older log is kept. */
const MAX_LOG_BYTES = 256 * 1024;
const MAX_MESSAGE_CHARS = 1_000;
/** Size of the tail that `unlessKnown` searches. */
const TAIL_BYTES = 8 * 1024;

/**
 * Writes a fault to the log for `coxswain doctor`: `faults.jsonl` in the project's state folder, or, if that fails, in the
 * user's. Never in the project, and never through a link. Never throws.
 *
 * @param unlessKnown  skips a message that is among the last lines, for faults of every event
 * @returns false if it could not be written anywhere
 */
export function logFault(fault: HookFault, place: FaultLogPlace, unlessKnown = false): boolean {
  const line: FaultLine = {
    at: new Date(place.nowMs).toISOString(),
    ...fault,
    message: fault.message.slice(0, MAX_MESSAGE_CHARS),
  };
  return faultOwners(place).some((owner) => {
    try {
      makeStateFolder(owner);
      const file = stateFile('faults', owner);
      if (unlessKnown && tailOf(file).includes(JSON.stringify(line.message))) return true;
      rotate(file, stateFile('olderFaults', owner));
      appendGuarded(file, `${JSON.stringify(line)}\n`);
      return true;
    } catch {
      // The next place.
      return false;
    }
  });
}

/** Owners of the logs that may hold a fault, in the order in which they are tried. */
export function faultOwners({ env, homeFolder, projectFolder }: StateOwner): readonly StateOwner[] {
  const users = { env, homeFolder };
  return projectFolder === undefined ? [users] : [{ ...users, projectFolder }, users];
}

function rotate(file: string, older: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size >= MAX_LOG_BYTES) renameSync(file, older);
}

function tailOf(file: string): string {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return '';
  const fd = openSync(file, 'r');
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8');
  } finally {
    closeSync(fd);
  }
}
