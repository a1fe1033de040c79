import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** A process, known again after its pid was given away. Plain JSON, as it stands in files. */
export interface ProcessIdentity {
  /** Host name, and on Linux the process namespace: a pid means something only within it. */
  readonly host: string;
  /** Names this start of the machine; empty where the system does not say. */
  readonly boot: string;
  readonly pid: number;
  /** When the process began, in the system's own unit; empty where the system does not say. */
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

/** False only when it is surely gone, or is no process. One on another host or in another container may be there. */
export function mayBeAlive({ host, boot, pid, processStart }: ProcessIdentity): boolean {
  const here = thisProcess();
  // Signals to 0 and below go to groups of processes: asking for one of these would always find something.
  if (!(Number.isInteger(pid) && pid > 0 && pid < 2 ** 31)) return false;
  if (host !== here.host) return true;
  if (boot !== here.boot || !isRunning(pid)) return false;
  const { start, state } = processFacts(pid);
  // One that has ended stays in the list until somebody asks how; in a container that may be never.
  if (state === 'Z' || state === 'X') return false;
  return start === '' || processStart === '' || start === processStart;
}

/** True for a process of this machine that is there, also another user's. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    // Another user's process may not be asked, but it is there.
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
