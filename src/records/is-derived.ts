import type { DerivedPayload } from './derived-draft.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';

/** Kinds that follow from others. */
const DERIVED: ReadonlySet<TrajectoryPayload['kind']> = new Set<TrajectoryPayload['kind']>([
  'pattern_flagged',
  'pattern_cleared',
  'feedback_produced',
  'guidance_produced',
  'provider_failed',
]);

/** Whether a payload follows from an input: a replay makes it anew. */
export function isDerived(payload: TrajectoryPayload): payload is DerivedPayload {
  return DERIVED.has(payload.kind);
}
