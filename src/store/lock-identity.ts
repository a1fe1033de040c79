import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

import { hasCode } from './file-system.ts';

/** Who holds a lock. Plain JSON, as it stands in the lock file. */
export interface LockHolder {
  /** Host name, and on Linux the process namespace: a pid means something only within it. */
  readonly host: string;
  /** Names this start of the machine; empty where the system does not say. */
  readonly boot: string;
  readonly pid: number;
  /** When the process began, in the system's own unit; empty where the system does not say. */
  readonly processStart: string;
  /** Different for every lock that is taken. */
  readonly token: string;
  /** Unix milliseconds. */
  readonly sinceMs: number;
}

/** What a lock asks of the machine. */
export interface LockIdentity {
  /** This process, with a new token. */
  holder(): LockHolder;
  /** False only when the holder is surely gone, or is no process. A holder on another host or in another container may be there. */
  mayBeAlive(holder: LockHolder): boolean;
}

/** This process on this machine. */
export const processIdentity: LockIdentity = {
  holder: () => ({ ...self(), token: randomUUID(), sinceMs: Date.now() }),
  mayBeAlive(holder) {
    const { host, boot } = self();
    if (!isProcessId(holder.pid)) return false;
    if (holder.host !== host) return true;
    if (holder.boot !== boot) return false;
    if (!isRunning(holder.pid)) return false;
    const { start, state } = processFacts(holder.pid);
    // One that has ended stays in the list until somebody asks how; in a container that may be never.
    if (state === 'Z' || state === 'X') return false;
    return start === '' || holder.processStart === '' || start === holder.processStart;
  },
};

/** What a message says of a holder. */
export function describeHolder({ host, pid, sinceMs }: LockHolder): string {
  const since = new Date(sinceMs);
  // A damaged lock may hold a time that no calendar has.
  return `process ${pid} on ${host} since ${Number.isNaN(since.getTime()) ? 'an unknown time' : since.toISOString()}`;
}

let known: Omit<LockHolder, 'token' | 'sinceMs'> | undefined;

function self(): Omit<LockHolder, 'token' | 'sinceMs'> {
  known ??= {
    host: [hostname(), namespace()].filter((part) => part !== '').join(' '),
    boot: textOf('/proc/sys/kernel/random/boot_id').trim(),
    pid: process.pid,
    processStart: processFacts(process.pid).start,
  };
  return known;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // Another user's process may not be asked, but it is there.
    return hasCode(thrown, 'EPERM');
  }
}

/** Signals to 0 and below go to groups of processes: asking for one of these would always find something. */
function isProcessId(pid: number): boolean {
  return Number.isInteger(pid) && pid > 0 && pid < 2 ** 31;
}

/** State and start of a process: fields 3 and 22 of `/proc/PID/stat`, counted from the end of the name, which may hold anything. */
function processFacts(pid: number): { readonly state: string; readonly start: string } {
  const stat = textOf(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields.at(0) ?? '', start: fields.at(19) ?? '' };
}

function namespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // Only Linux has it.
    return '';
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Only Linux has it.
    return '';
  }
}
