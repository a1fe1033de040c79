import type { ClassificationResult } from '../../records/guidance.ts';
import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { TrajectoryView } from '../prompt/trajectory-view.ts';

/**
 * What the surest pattern of these kinds says that the agent is in at `warn` or above and that was seen within the last
 * `maxAge` calls; undefined when there is none.
 *
 * Cost: O(open patterns), which are few.
 */
export function classifyPattern(
  trajectory: TrajectoryView,
  kinds: ReadonlySet<string>,
  maxAge: number,
): ClassificationResult | undefined {
  let surest: TrajectoryPattern | undefined;
  for (const pattern of trajectory.openPatterns()) {
    if (pattern.level === 'hint' || !kinds.has(pattern.kind)) continue;
    const lastSeen = pattern.evidence.at(-1) ?? pattern.firstSeen;
    if (trajectory.calls - lastSeen > maxAge) continue;
    if (surest === undefined || pattern.confidence > surest.confidence) surest = pattern;
  }
  if (surest === undefined) return undefined;
  const { confidence, identity, kind, level, occurrences } = surest;
  return { relevant: true, confidence, reason: `pattern ${kind}`, pattern: { identity, level, occurrences } };
}
