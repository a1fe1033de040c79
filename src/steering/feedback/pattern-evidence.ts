import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';

/** Calls named as evidence; the newest say most. */
const MAX_NAMED_CALLS = 8;

/** Which calls show a pattern, for records. */
export function patternEvidence({ evidence, firstSeen, occurrences }: TrajectoryPattern): string {
  const named = evidence.slice(-MAX_NAMED_CALLS).join(', ');
  return `tool calls ${named === '' ? firstSeen : named} (0-based); ${occurrences} in all`;
}
