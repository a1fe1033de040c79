import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Identifies a process even if its pid is reused. Plain JSON. */
export interface ProcessIdentity {
  /** Host name, and on Linux the process namespace of the pid. */
  readonly host: string;
  /** Boot id of the machine; empty if unknown. */
  readonly boot: string;
  readonly pid: number;
  /** Start of the process, in the system's unit; empty if unknown. */
  readonly processStart: string;
}

let own: ProcessIdentity | undefined;

export function thisProcess(): ProcessIdentity {
  own ??= {
    host: [hostname(), namespace()].filter((part) => part !== '').join(' '),
    boot: textOf('/proc/sys/kernel/random/boot_id').trim(),
    pid: process.pid,
    processStart: processFacts(process.pid).start,
  };
  return own;
}

/** False if the process certainly has ended or is invalid. One on another host or in another container may be alive. */
export function mayBeAlive({ host, boot, pid, processStart }: ProcessIdentity): boolean {
  const here = thisProcess();
  // Signals to 0 and below address process groups.
  if (!(Number.isInteger(pid) && pid > 0 && pid < 2 ** 31)) return false;
  if (host !== here.host) return true;
  if (boot !== here.boot || !isRunning(pid)) return false;
  const { start, state } = processFacts(pid);
  // A zombie stays in the list until its parent reaps it, in a container possibly forever.
  if (state === 'Z' || state === 'X') return false;
  return start === '' || processStart === '' || start === processStart;
}

/** True for a process of any user on this machine. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    // The process of another user exists.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM';
  }
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
