import { appendFileSync, closeSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { makeFolderSync } from '../store/make-folder-sync.ts';

/** A fault of ours that an agent never felt. */
export interface HookFault {
  /** Where in our code, in a few words: `input`, `config`, `store`. */
  readonly where: string;
  /** What happened; never content of the session. */
  readonly message: string;
  /** The hook's event, where it is known. */
  readonly event?: string;
  readonly sessionId?: string;
}

/** A line of the log. */
export interface FaultLine extends HookFault {
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** Where faults are written down. */
export interface FaultLogPlace {
  /** The folder of the project's records, `.coxswain`; undefined where no project is known. */
  readonly projectStateFolder: string | undefined;
  /** For `XDG_STATE_HOME` alone. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
}

/** A log that reaches this is put aside as `faults.1.jsonl`, in the place of the one before. */
const MAX_LOG_BYTES = 256 * 1024;
const MAX_MESSAGE_CHARS = 1_000;
/** How far back `unlessKnown` looks. */
const TAIL_BYTES = 8 * 1024;

/**
 * Writes a fault into our own log, for `coxswain doctor`: `faults.jsonl` in the project's folder of records, or, where that
 * cannot be written, in the user's (`~/.local/state/coxswain`). For the owner only. Never throws: where neither can be
 * written, the fault is lost.
 *
 * @param unlessKnown  leaves out what one of the last lines says already: for what is wrong at every event
 */
export function logFault(fault: HookFault, place: FaultLogPlace, unlessKnown = false): void {
  const line: FaultLine = {
    at: new Date(place.nowMs).toISOString(),
    ...fault,
    message: fault.message.slice(0, MAX_MESSAGE_CHARS),
  };
  for (const folder of faultFolders(place)) {
    try {
      const file = join(folder, FAULT_LOG);
      makeFolderSync(folder);
      if (unlessKnown && tailOf(file).includes(JSON.stringify(line.message))) return;
      putAside(file);
      appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
      return;
    } catch {
      // The next folder; there is nobody else to tell.
    }
  }
}

/** The log's name in its folder. */
export const FAULT_LOG = 'faults.jsonl';

/** The folders where faults may be written down, in the order in which they are tried. */
export function faultFolders({ projectStateFolder, env }: Omit<FaultLogPlace, 'nowMs'>): readonly string[] {
  const state = env['XDG_STATE_HOME'];
  const users = join(
    state !== undefined && state !== ''
      ? state
      : join(process.getBuiltinModule('node:os').homedir(), '.local', 'state'),
    'coxswain',
  );
  return projectStateFolder === undefined ? [users] : [projectStateFolder, users];
}

function putAside(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size >= MAX_LOG_BYTES) renameSync(file, join(dirname(file), 'faults.1.jsonl'));
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
