import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

import { isJsonObject } from '../../../base/json.ts';
import { stateFile, type StateOwner } from '../../../base/state-places.ts';
import { faultOwners, type FaultLine } from '../../../hosts/claude-code/fault-log.ts';
import { countOf, durationText } from '../../../base/number-text.ts';
import { failed, passed, type DoctorLine } from './doctor-line.ts';

/** Of each file the last bytes. */
const TAIL_BYTES = 256 * 1024;
/** Faults this old are history. */
const RECENT_MS = 24 * 3_600_000;
const MAX_SHOWN = 3;

/** The faults in our logs, the oldest first. Never throws. */
export function readFaults(place: StateOwner): readonly FaultLine[] {
  const files = faultOwners(place).flatMap((owner) => [stateFile('olderFaults', owner), stateFile('faults', owner)]);
  const faults = files.flatMap((file) => tailOf(file).split('\n').flatMap(faultOf));
  return faults.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** What went wrong in the hook without any agent feeling it: a failure where it was in the last 24 hours. */
export function checkFaults(place: StateOwner, nowMs: number): DoctorLine {
  const faults = readFaults(place);
  const recent = faults.filter(({ at }) => nowMs - Date.parse(at) < RECENT_MS);
  const [first] = faults;
  if (recent.length === 0) {
    return passed(
      'faults',
      first === undefined ? 'none' : `none in 24 hours; ${countOf(faults.length, 'older fault')}`,
    );
  }
  const kinds = new Map<string, number>();
  for (const { where } of recent) kinds.set(where, (kinds.get(where) ?? 0) + 1);
  const counts = [...kinds].toSorted(([, a], [, b]) => b - a).map(([where, count]) => `${where} ${count}`);
  const since = durationText(nowMs - Date.parse(recent[0]?.at ?? ''));
  const last = recent.slice(-MAX_SHOWN).toReversed();
  const said = last.map(({ at, event, message, where }) => {
    const what = event === undefined ? where : `${where}, ${event}`;
    return `${durationText(nowMs - Date.parse(at))} ago (${what}): ${message.slice(0, 200)}`;
  });
  const found = `${countOf(recent.length, 'fault')} in ${since} (${counts.join(', ')}); ${said.join('; ')}`;
  return failed('faults', found, `Mend what they name; then delete ${stateFile('faults', place)}.`);
}

function faultOf(line: string): readonly FaultLine[] {
  if (line === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // The first line of a tail, or one that a full disk cut.
    return [];
  }
  if (!isJsonObject(value)) return [];
  const { at, event, message, sessionId, where } = value;
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) return [];
  if (typeof message !== 'string' || typeof where !== 'string') return [];
  return [
    {
      at,
      where,
      message,
      ...(typeof event === 'string' && { event }),
      ...(typeof sessionId === 'string' && { sessionId }),
    },
  ];
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
    // Nothing went wrong yet, or the log is not ours to read.
    return '';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
