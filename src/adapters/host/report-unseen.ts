import type { Run } from '../../core/run/run.ts';

/**
 * Records a fault when a run ends whose agent ran without the adapter. The fault is the only sign of this mistake: the agent works, but
 * nothing is recorded and no advice reaches it.
 *
 * @param unseen.message  what was not seen, and how to run the agent with the adapter
 * @param unseen.isSeen   default: true if the run has a turn or a call
 */
export function reportUnseen(
  run: Run,
  where: string,
  unseen: { readonly message: string; readonly isSeen?: () => boolean },
): void {
  const { message, isSeen = (): boolean => run.analysis.calls + run.analysis.turns > 0 } = unseen;
  run.beforeEnd(() => {
    if (!isSeen()) run.reportFault(where, new Error(message));
    return undefined;
  });
}
