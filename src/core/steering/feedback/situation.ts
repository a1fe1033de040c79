import { findLast } from '../../base/find-last.ts';
import type { FeedbackCadence as CadenceMode } from '../prompt/prompt-template.ts';
import type { FeedbackContext } from '../prompt/feedback-context.ts';
import type { TrajectoryView } from '../prompt/trajectory-view.ts';
import type { Session } from '../../session/session.ts';
import { CadenceSlice, type LastSpoken } from './feedback-cadence.ts';
import { PendingObserverTrigger, pendingTriggers } from './trigger-memory.ts';
import { promptCallCount } from '../prompt/prompt-calls.ts';
import type { Speaker } from './speaker.ts';

/**
 * The input of triggers. It is created once per evaluation, so that feedback of one provider does not prevent feedback of
 * another.
 */
export interface Situation {
  readonly session: Session;
  readonly promptName: string;
  /** Unix milliseconds. */
  readonly nowMs: number;
  readonly cadence: CadenceMode;
  readonly callCount: number;
  readonly latestAdvice: readonly LastSpoken[];
  readonly pendingEventNames: readonly string[];
  readonly trajectory: TrajectoryView | undefined;
  readonly fileExists: (path: string) => boolean;
}

/** @param filesCreated  paths known to exist; the filesystem is read only if this is undefined */
export function createSituation(
  source: Pick<FeedbackContext, 'session' | 'promptName' | 'nowMs' | 'trajectory' | 'filesystem'>,
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
    latestAdvice: session.slice(CadenceSlice).all(),
    pendingEventNames: pendingTriggers(session.slice(PendingObserverTrigger)),
    fileExists: (path) =>
      filesCreated === undefined ? (filesystem?.exists(path) ?? false) : filesCreated.includes(path),
  };
}

/**
 * Returns the feedback from which a speaker's cadence counts: the last feedback of any speaker, or its own, under this
 * prompt.
 */
export function lastSpokenFor(
  speaker: Pick<Speaker, 'source' | 'provider'>,
  situation: Pick<Situation, 'cadence' | 'latestAdvice' | 'promptName'>,
): LastSpoken | undefined {
  const { cadence, promptName } = situation;
  return findLast(
    situation.latestAdvice,
    (item) =>
      item.said.promptName === promptName &&
      (cadence === 'shared' || (item.source === speaker.source && item.name === speaker.provider.name)),
  );
}
