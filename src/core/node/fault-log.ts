import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { hasCode } from '../base/error.ts';
import { appendGuarded, createEmpty, makeOwnFolder } from './guarded-file.ts';
import { isJsonObject, jsonOf, present } from '../base/json.ts';
import { makeStateFolder, namesIn, stateFile, stateRoot, type StateOwner } from './state-places.ts';

export interface HookFault {
  readonly where: string;
  readonly message: string;
  readonly event?: string;
  readonly sessionId?: string;
  /** Number of records of the run that the store will never contain, and for which it contains no gap record. */
  readonly lost?: number;
}

export interface FaultLine extends HookFault {
  /** Time of the fault in ISO 8601, UTC. */
  readonly at: string;
}

export type LoggedFault = FaultLine & { readonly file: string };

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
/** Maximum length of a file name on common file systems. */
const MAX_NAME_CHARS = 255;
/** Maximum number of empty files in one folder. */
const MAX_EMPTY_FILES = 1_000;

/**
 * `faults.jsonl` in the project's state folder, else the user's. Nothing is written inside the project, and no link is
 * followed. Never throws. On a full disk, the fault becomes the name of an empty file, which the next fault that fits
 * moves to the log.
 *
 * @param unlessKnown  skips a message among the last lines
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
      if (unlessKnown && isKnown(line, owner)) return true;
      appendLine(line, owner);
      return true;
    } catch {
      // The caller tries the next folder.
      return false;
    }
  });
}

export function faultOwners({ env, homeFolder, projectFolder }: StateOwner): readonly StateOwner[] {
  const users = { env, homeFolder };
  return projectFolder === undefined ? [users] : [{ ...users, projectFolder }, users];
}

export function readFaults(owner: StateOwner): readonly LoggedFault[] {
  const files = [stateFile('olderFaults', owner), stateFile('faults', owner)];
  const faults = files.flatMap((file) => {
    const lines = tailOf(file, MAX_LOG_BYTES).split('\n');
    return lines.flatMap((line) => faultOf(line).map((fault) => Object.assign(fault, { file })));
  });
  const file = stateFile('fullDiskFaults', owner);
  const namedFaults = namesIn(file).flatMap((name) => faultNamed(name).map((fault) => Object.assign(fault, { file })));
  return [...faults, ...namedFaults].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function isKnown({ message }: FaultLine, owner: StateOwner): boolean {
  if (tailOf(stateFile('faults', owner), TAIL_BYTES).includes(JSON.stringify(message))) return true;
  const namedFaults = namesIn(stateFile('fullDiskFaults', owner)).flatMap(faultNamed);
  return namedFaults.some((fault) => message.startsWith(fault.message));
}

function appendLine(line: FaultLine, owner: StateOwner): void {
  const file = stateFile('faults', owner);
  const folder = stateFile('fullDiskFaults', owner);
  const names = namesIn(folder);
  const namedFaults = names.flatMap(faultNamed);
  try {
    rotate(file, stateFile('olderFaults', owner));
    // A full disk may have cut the last line.
    const separator = namedFaults.length === 0 ? '' : '\n';
    appendGuarded(file, `${separator}${[...namedFaults, line].map((fault) => `${JSON.stringify(fault)}\n`).join('')}`);
  } catch (error) {
    if (!hasCode(error, 'ENOSPC') && !hasCode(error, 'EDQUOT')) throw error;
    if (names.length >= MAX_EMPTY_FILES) throw error;
    makeOwnFolder(stateRoot(owner), folder);
    createEmpty(join(folder, nameOf(line)));
    return;
  }
  // Another process may have moved them too.
  for (const name of names) rmSync(join(folder, name), { force: true });
}

function nameOf({ at, lost, message, sessionId = '', where }: FaultLine): string {
  let name = '';
  const fields = [at, where, String(lost ?? ''), sessionId.slice(0, 64).toWellFormed(), message.toWellFormed()].join(
    '\n',
  );
  for (const char of fields) {
    const next = encodeURIComponent(char).replaceAll('*', '%2A').replaceAll('%20', '+');
    if (name.length + next.length > MAX_NAME_CHARS) break;
    name += next;
  }
  return name;
}

function faultNamed(name: string): readonly FaultLine[] {
  let fields: readonly string[];
  try {
    fields = decodeURIComponent(name.replaceAll('+', '%20')).split('\n');
  } catch {
    return [];
  }
  const [at = '', where, lost, sessionId, ...message] = fields;
  if (Number.isNaN(Date.parse(at)) || where === undefined) return [];
  // An empty field is an absent member.
  const knownFields = present({ lost: lost ? Number(lost) : undefined, sessionId: sessionId || undefined });
  return [{ at, where, message: message.join('\n'), ...knownFields }];
}

function faultOf(line: string): readonly FaultLine[] {
  if (line === '') return [];
  // An incomplete line is no JSON: the first line of the excerpt, or a line truncated by a full disk.
  const value = jsonOf(line);
  if (!isJsonObject(value)) return [];
  const { at, event, lost, message, sessionId, where } = value;
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) return [];
  if (typeof message !== 'string' || typeof where !== 'string') return [];
  const text = (member: unknown): string | undefined => (typeof member === 'string' ? member : undefined);
  const knownFields = {
    event: text(event),
    sessionId: text(sessionId),
    lost: typeof lost === 'number' ? lost : undefined,
  };
  return [{ at, where, message, ...present(knownFields) }];
}

function rotate(file: string, older: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size >= MAX_LOG_BYTES) renameSync(file, older);
}

function tailOf(file: string, maxBytes: number): string {
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    const count = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, count);
  } catch {
    // The log does not exist or is not readable.
    return '';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
