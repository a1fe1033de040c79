import type { TrajectoryPattern } from '../../records/trajectory-pattern.ts';
import type { TrajectoryView } from './prompt.ts';

/** The only text for a model about calls that a person or a policy refused. It names no way round, and nobody may be there to ask. */
export const REFUSAL_ADVICE =
  'A person or a policy refused these calls. Do not try the same in another way: leave it undone, go on with the parts of the task that need no such permission, and say at the end what is missing.';

/** Number of newest calls among which a refused call holds advice back: the agent may still be trying to do the same thing. */
const HELD_CALLS = 16;

/** `ask`: the pattern has refused calls, only `REFUSAL_ADVICE` fits. `hold`: nothing may be given now. Cost: O(16 + open patterns). */
export function refusalRule(
  trajectory: TrajectoryView | undefined,
  pattern: Pick<TrajectoryPattern, 'identity' | 'refused'> | undefined,
): 'ask' | 'hold' | undefined {
  if (trajectory === undefined || trajectory.refusals === 0) return undefined;
  const known = pattern && (trajectory.openPatterns().find(({ identity }) => identity === pattern.identity) ?? pattern);
  if (known?.refused !== undefined) return 'ask';
  return trajectory.recentCalls(HELD_CALLS).some(({ outcome }) => outcome === 'refused') ? 'hold' : undefined;
}
