import { findLast } from '../../base/find-last.ts';
import type { FeedbackCadence as CadenceMode } from '../prompt/prompt-template.ts';
import type { Filesystem } from '../prompt/prompt-resources.ts';
import type { TrajectoryView } from '../prompt/trajectory-view.ts';
import type { Session } from '../../session/session.ts';
import { CadenceSlice, type LastSpoken } from './feedback-cadence.ts';
import { PendingObserverTrigger, pendingTriggers } from './trigger-memory.ts';
import { promptCallCount } from '../prompt/prompt-calls.ts';
import type { Speaker } from './speaker.ts';

/** What triggers are evaluated against. Taken once an evaluation, so that what one speaker says holds back no other. */
export interface Situation {
  readonly session: Session;
  readonly promptName: string;
  /** Unix milliseconds. */
  readonly nowMs: number;
  readonly cadence: CadenceMode;
  readonly callCount: number;
  readonly spoken: readonly LastSpoken[];
  readonly pending: readonly string[];
  readonly trajectory: TrajectoryView | undefined;
  /** Whether there is a file at a path. */
  readonly fileExists: (path: string) => boolean;
}

/** Where a `Situation` comes from. */
export interface SituationSource {
  readonly session: Session;
  readonly promptName: string;
  readonly nowMs: number;
  readonly trajectory: TrajectoryView | undefined;
  readonly filesystem: Filesystem | undefined;
}

/** @param filesCreated paths known to exist; when given, the filesystem is not asked */
export function takeSituation(
  source: SituationSource,
  cadence: CadenceMode,
  filesCreated: readonly string[] | undefined,
): Situation {
  const { session, promptName, nowMs, trajectory, filesystem } = source;
  return {
    session,
    promptName,
    nowMs,
    cadence,
    trajectory,
    callCount: promptCallCount(session, promptName),
    spoken: session.slice(CadenceSlice).all(),
    pending: pendingTriggers(session.slice(PendingObserverTrigger)),
    fileExists: (path) =>
      filesCreated === undefined ? (filesystem?.exists(path) ?? false) : filesCreated.includes(path),
  };
}

/** What a speaker's cadence counts from: the last words of anyone, or its own, under this prompt. */
export function lastSpokenFor(
  speaker: Pick<Speaker, 'source' | 'provider'>,
  situation: Pick<Situation, 'cadence' | 'spoken' | 'promptName'>,
): LastSpoken | undefined {
  const { cadence, promptName } = situation;
  return findLast(
    situation.spoken,
    (item) =>
      item.said.promptName === promptName &&
      (cadence === 'shared' || (item.source === speaker.source && item.name === speaker.provider.name)),
  );
}
