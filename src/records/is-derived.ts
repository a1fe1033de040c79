import type { DerivedPayload } from './derived-draft.ts';
import { roleOf } from './kind-definition.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';

/** Whether a payload follows from an input: a replay makes it anew. */
export function isDerived(payload: TrajectoryPayload): payload is DerivedPayload {
  return roleOf(payload) === 'derived';
}
