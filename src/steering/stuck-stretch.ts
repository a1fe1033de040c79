import { present } from '../base/present.ts';
import type { TrajectoryPattern } from '../records/trajectory-pattern.ts';

/** A stretch in which the agent is stuck: from the first flagged stuck pattern until none is open. Plain JSON. */
export interface StuckStretch {
  /** Index of the call at which it began. */
  readonly since: number;
  /** Index of the call at which a pattern first became strong. */
  readonly strongSince?: number;
  /** Identities of the stuck patterns that are open. */
  readonly open: readonly string[];
}

/** The stretch after a pattern was flagged, rose or was cleared; undefined if the agent is not stuck. */
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
