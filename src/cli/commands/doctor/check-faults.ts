import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

import { isJsonObject, jsonOf } from '../../../base/json.ts';
import { present } from '../../../base/present.ts';
import { stateFile, type StateOwner } from '../../../base/state-places.ts';
import { faultOwners, type FaultLine } from '../../../hosts/claude-code/fault-log.ts';
import { countOf, durationText } from '../../../base/number-text.ts';
import { CANARY_PREFIX, failed, passed, unknown, type DoctorLine } from './doctor-line.ts';

/** Number of bytes read from the end of each log file. */
const TAIL_BYTES = 256 * 1024;
const RECENT_MS = 24 * 3_600_000;
const MAX_SHOWN = 3;

/** A fault and the log file that contains it. */
type LoggedFault = FaultLine & { readonly file: string };

/** Returns the faults in the logs of an owner, oldest first. Never throws. */
export function readFaults(owner: StateOwner): readonly LoggedFault[] {
  const files = [stateFile('olderFaults', owner), stateFile('faults', owner)];
  const faults = files.flatMap((file) =>
    tailOf(file)
      .split('\n')
      .flatMap((line) => faultOf(line).map((fault) => Object.assign(fault, { file }))),
  );
  return faults.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/**
 * Checks the logged faults of the hook, which agents do not show. Faults of this project in the last 24 hours fail the check.
 * Faults in the user's log are only listed, because they may come from any project.
 */
export function checkFaults(place: StateOwner, nowMs: number): readonly DoctorLine[] {
  // Faults of events that the doctor sent are reported by the hook check.
  const isRecent = ({ at, sessionId }: FaultLine): boolean =>
    nowMs - Date.parse(at) < RECENT_MS && sessionId?.startsWith(CANARY_PREFIX) !== true;
  const [project = place, user] = faultOwners(place);
  const others = (user === undefined ? [] : readFaults(user)).filter(isRecent);
  const last = others.at(-1);
  const elsewhere =
    last === undefined
      ? []
      : [
          unknown(
            'faults elsewhere',
            `${countOf(others.length, 'problem')} in 24 hours, perhaps of other projects; the last: ${last.message.slice(0, 200)}`,
            `Nothing to do here. The list is in ${last.file}.`,
          ),
        ];
  return [projectFaults(readFaults(project), isRecent, nowMs), ...elsewhere];
}

function projectFaults(
  faults: readonly LoggedFault[],
  isRecent: (fault: FaultLine) => boolean,
  nowMs: number,
): DoctorLine {
  const recent = faults.filter(isRecent);
  const newest = recent.at(-1);
  if (newest === undefined) {
    return passed('faults', faults.length === 0 ? 'none' : `none in 24 hours; ${countOf(faults.length, 'older one')}`);
  }
  const kinds = new Map<string, number>();
  for (const { where } of recent) kinds.set(where, (kinds.get(where) ?? 0) + 1);
  const counts = [...kinds].toSorted(([, a], [, b]) => b - a).map(([where, count]) => `${where} ${count}`);
  const since = durationText(nowMs - Date.parse(recent[0]?.at ?? ''));
  const latest = recent
    .slice(-MAX_SHOWN)
    .toReversed()
    .map(({ at, event, message, where }) => {
      const what = event === undefined ? where : `${where}, ${event}`;
      return `${durationText(nowMs - Date.parse(at))} ago (${what}): ${message.slice(0, 200)}`;
    });
  const found = `${countOf(recent.length, 'problem')} in ${since} (${counts.join(', ')}); ${latest.join('; ')}`;
  return failed('faults', found, `The agents were not affected. After fixing the cause, delete ${newest.file}.`);
}

function faultOf(line: string): readonly FaultLine[] {
  if (line === '') return [];
  // An incomplete line is no JSON: the first line of the excerpt, or a line truncated by a full disk.
  const value = jsonOf(line);
  if (!isJsonObject(value)) return [];
  const { at, event, message, sessionId, where } = value;
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) return [];
  if (typeof message !== 'string' || typeof where !== 'string') return [];
  const text = (member: unknown): string | undefined => (typeof member === 'string' ? member : undefined);
  return [{ at, where, message, ...present({ event: text(event), sessionId: text(sessionId) }) }];
}

function tailOf(file: string): string {
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const count = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, count);
  } catch {
    // The log does not exist or is not readable.
    return '';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
