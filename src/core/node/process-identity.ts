import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

import { hasCode } from '../base/error.ts';

/** Identifies a process, even if another process later gets the same pid. Plain JSON. */
export interface ProcessIdentity {
  /** The host name. On Linux it includes the process namespace of the pid. */
  readonly host: string;
  /** The boot id of the machine; empty if unknown. */
  readonly boot: string;
  readonly pid: number;
  /** The start time of the process, in the unit of the operating system; empty if unknown. */
  readonly processStart: string;
}

let ownIdentity: ProcessIdentity | undefined;

export function thisProcess(): ProcessIdentity {
  ownIdentity ??= {
    host: [hostname(), pidNamespace()].filter((part) => part !== '').join(' '),
    boot: textOf('/proc/sys/kernel/random/boot_id').trim(),
    pid: process.pid,
    processStart: processFacts(process.pid).start,
  };
  return ownIdentity;
}

/**
 * Returns false if the identity is invalid or the process has certainly ended. A process on another host or in another
 * container may be alive.
 */
export function mayBeAlive({ host, boot, pid, processStart }: ProcessIdentity): boolean {
  const current = thisProcess();
  // A signal to pid 0 or below addresses a process group.
  if (!(Number.isInteger(pid) && pid > 0 && pid < 2 ** 31)) return false;
  if (host !== current.host) return true;
  if (boot !== current.boot || !isRunning(pid)) return false;
  const { start, state } = processFacts(pid);
  // A zombie keeps its pid until its parent reaps it. In a container that may never happen.
  if (state === 'Z' || state === 'X') return false;
  return start === '' || processStart === '' || start === processStart;
}

/** Returns true if a process of any user with this pid runs on this machine. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    // The process exists but belongs to another user.
    return hasCode(thrown, 'EPERM');
  }
}

/**
 * Returns the state and start time of a process: fields 3 and 22 of `/proc/PID/stat`. The fields are counted from the end
 * of the process name, because the name may contain any characters.
 */
function processFacts(pid: number): { readonly state: string; readonly start: string } {
  const stat = textOf(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields.at(0) ?? '', start: fields.at(19) ?? '' };
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // Only Linux has this file.
    return '';
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Only Linux has this file.
    return '';
  }
}
