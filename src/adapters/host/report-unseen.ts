import type { RunSource } from './adapter-options.ts';

/**
 * Records a fault when a run ends whose agent ran without the adapter. The fault is the only sign of this mistake: the agent works, but
 * nothing is recorded and no advice reaches it.
 *
 * @param unseen.message  what was not seen, and how to run the agent with the adapter
 * @param unseen.isSeen   default: true if the run has a turn or a call
 */
export function reportUnseen(
  run: RunSource,
  where: string,
  unseen: { readonly message: string; readonly isSeen?: () => boolean },
): void {
  // A run of several is known only once its agent is seen.
  if (typeof run === 'function') return;
  const { message, isSeen = (): boolean => run.analysis.calls + run.analysis.turns > 0 } = unseen;
  run.beforeEnd(() => {
    if (!isSeen()) run.reportFault(where, new Error(message));
    return undefined;
  });
}
