import { closeSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs';

import { appendGuarded } from '../../base/guarded-file.ts';
import { makeStateFolder, stateFile, type StateOwner } from '../../base/state-places.ts';

/** An internal error of coxswain. It is logged and not shown to the agent. */
export interface HookFault {
  /** The part of coxswain that failed, for example `input`, `config` or `store`. */
  readonly where: string;
  /** The error message. Never contains content of the session. */
  readonly message: string;
  /** Name of the hook event, if known. */
  readonly event?: string;
  readonly sessionId?: string;
}

/** One line of the fault log. */
export interface FaultLine extends HookFault {
  /** Time of the fault in ISO 8601, UTC. */
  readonly at: string;
}

/** The owner of a fault log, which is a project or the user. */
export interface FaultLogPlace extends StateOwner {
  readonly nowMs: number;
}

/** Maximum number of configuration problems logged at once. More would push other faults out of the log. */
export const MAX_CONFIG_FAULTS = 3;

/** A log of this size is rotated. One older log is kept. */
const MAX_LOG_BYTES = 256 * 1024;
const MAX_MESSAGE_CHARS = 1_000;
/** Number of bytes at the end of the log in which `unlessKnown` searches for the same message. */
const TAIL_BYTES = 8 * 1024;

/**
 * Writes a fault to the log that `coxswain doctor` reads. The log is `faults.jsonl` in the project's state folder. If that
 * fails, the user's state folder is used. Nothing is written inside the project, and no link is followed. Never throws.
 *
 * @param unlessKnown  skips a message that is among the last lines; used for faults that recur with every event
 * @returns false if neither log could be written
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
      // The caller tries the next folder.
      return false;
    }
  });
}

/** Owners of the logs that may contain a fault, in the order in which they are tried. */
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
