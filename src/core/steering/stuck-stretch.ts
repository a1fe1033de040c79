import { present } from '../base/present.ts';
import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';

/**
 * A sequence of calls during which the agent is stuck. It starts with the first flagged stuck pattern and ends when no
 * stuck pattern is open. Plain JSON.
 */
export interface StuckStretch {
  /** Index of the call at which the stretch started. */
  readonly since: number;
  /** Index of the call at which a pattern first became strong. */
  readonly strongSince?: number;
  /** Identities of the stuck patterns that are open. */
  readonly open: readonly string[];
}

/** Returns the stretch after a pattern was flagged, rose or was cleared. Returns undefined if the agent is not stuck. */
export function stretchAfter(
  stretch: StuckStretch | undefined,
  change: 'flagged' | 'cleared',
  { evidence, flaggedAt, identity, level, stuck }: TrajectoryPattern,
): StuckStretch | undefined {
  if (!stuck) return stretch;
  const others = (stretch?.open ?? []).filter((one) => one !== identity);
  if (change === 'flagged') {
    const strongSince = stretch?.strongSince ?? (level === 'strong' ? (evidence.at(-1) ?? flaggedAt ?? 0) : undefined);
    return { since: stretch?.since ?? flaggedAt ?? 0, ...present({ strongSince }), open: [...others, identity] };
  }
  return stretch === undefined || others.length === 0 ? undefined : { ...stretch, open: others };
}
