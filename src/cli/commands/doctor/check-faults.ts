import type { StateOwner } from '../../../core/node/state-places.ts';
import { faultOwners, readFaults, type FaultLine, type LoggedFault } from '../../../core/node/fault-log.ts';
import { countOf, durationText } from '../../../core/base/number-text.ts';
import { CANARY_PREFIX, failed, passed, unknown, type DoctorLine } from './doctor-line.ts';

const RECENT_MS = 24 * 3_600_000;
const MAX_SHOWN = 3;

/**
 * Checks the logged faults of the hook, which agents do not show. Faults of this project in the last 24 hours fail the check.
 * Faults in the user's log are only listed, because they may come from any project.
 */
export function checkFaults(place: StateOwner, nowMs: number): readonly DoctorLine[] {
  // Faults of events that the doctor sent are reported by the hook check.
  const isRecent = ({ at, sessionId }: FaultLine): boolean =>
    nowMs - Date.parse(at) < RECENT_MS && sessionId?.startsWith(CANARY_PREFIX) !== true;
  const [project = place, user] = faultOwners(place);
  const userFaults = (user === undefined ? [] : readFaults(user)).filter(isRecent);
  const last = userFaults.at(-1);
  const userLines =
    last === undefined
      ? []
      : [
          unknown(
            'faults elsewhere',
            `${countOf(userFaults.length, 'problem')} in 24 hours, perhaps of other projects; the last: ${last.message.slice(0, 200)}`,
            `Nothing to do here. The list is in ${last.file}.`,
          ),
        ];
  return [projectFaults(readFaults(project), isRecent, nowMs), ...userLines];
}

function projectFaults(
  faults: readonly LoggedFault[],
  isRecent: (fault: FaultLine) => boolean,
  nowMs: number,
): DoctorLine {
  const recentFaults = faults.filter(isRecent);
  const newest = recentFaults.at(-1);
  if (newest === undefined) {
    return passed('faults', faults.length === 0 ? 'none' : `none in 24 hours; ${countOf(faults.length, 'older one')}`);
  }
  const kinds = new Map<string, number>();
  for (const { where } of recentFaults) kinds.set(where, (kinds.get(where) ?? 0) + 1);
  const counts = [...kinds].toSorted(([, a], [, b]) => b - a).map(([where, count]) => `${where} ${count}`);
  const sinceText = durationText(Math.max(0, nowMs - Date.parse(recentFaults[0]?.at ?? '')));
  const latestLines = recentFaults
    .slice(-MAX_SHOWN)
    .toReversed()
    .map(({ at, event, message, where }) => {
      const place = event === undefined ? where : `${where}, ${event}`;
      return `${durationText(Math.max(0, nowMs - Date.parse(at)))} ago (${place}): ${message.slice(0, 200)}`;
    });
  const found = `${countOf(recentFaults.length, 'problem')} in ${sinceText} (${counts.join(', ')}); ${latestLines.join('; ')}`;
  return failed('faults', found, `The agents were not affected. After fixing the cause, delete ${newest.file}.`);
}
