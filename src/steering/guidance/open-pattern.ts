import type { PatternReference } from '../../records/guidance.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { TrajectoryView } from '../prompt/trajectory-view.ts';

/**
 * The surest pattern of these kinds that the agent is in at `warn` or above and that was seen within the last
 * `maxAge` calls; undefined when there is none.
 *
 * Cost: O(open patterns), which are few.
 */
export function openPattern(
  trajectory: TrajectoryView,
  kinds: ReadonlySet<string>,
  maxAge: number,
): TrajectoryPattern | undefined {
  let surest: TrajectoryPattern | undefined;
  for (const pattern of trajectory.openPatterns()) {
    if (pattern.level === 'hint' || !kinds.has(pattern.kind)) continue;
    const lastSeen = pattern.evidence.at(-1) ?? pattern.firstSeen;
    if (trajectory.calls - lastSeen > maxAge) continue;
    if (surest === undefined || pattern.confidence > surest.confidence) surest = pattern;
  }
  return surest;
}

/** What a classification says of the pattern that it rests on. */
export function referenceTo(pattern: TrajectoryPattern): PatternReference {
  return { identity: pattern.identity, level: pattern.level, occurrences: pattern.occurrences };
}
