import { findLast } from '../../base/find-last.ts';
import type { StoredAssessment, StoredFeedback } from '../../records/feedback.ts';
import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, type Slice } from '../../session/define-slice.ts';
import type { Session } from '../../session/session.ts';
import { replace } from '../../session/slice-operation.ts';
import { Assessment, AssessmentEvent, Feedback, FeedbackEvent } from './advice-slices.ts';

export type SpeakerSource = 'feedback' | 'assessment';

/** The last feedback of one speaker (a provider or observer) under one prompt. */
export type LastSpoken =
  | { readonly source: 'feedback'; readonly name: string; readonly said: StoredFeedback }
  | { readonly source: 'assessment'; readonly name: string; readonly said: StoredAssessment };

const CadenceRebuilt: EventType<readonly LastSpoken[]> = defineEvent<readonly LastSpoken[]>('feedback/cadence-rebuilt');

/**
 * The last feedback of each speaker. The slice has one item per prompt and speaker, with the newest last. It is exact even
 * if `Feedback` and `Assessment` no longer retain the feedback. It is short, so a search costs the same in a long run.
 */
export const CadenceSlice: Slice<LastSpoken> = defineSlice<LastSpoken>('feedback/cadence')
  .on(FeedbackEvent, (view, { data }) => replace(moveToEnd(view.all(), fromFeedback(data))))
  .on(AssessmentEvent, (view, { data }) => replace(moveToEnd(view.all(), fromAssessment(data))))
  .on(CadenceRebuilt, (_view, { data }) => replace(data));

function fromFeedback(feedback: StoredFeedback): LastSpoken {
  return { source: 'feedback', name: feedback.providerName, said: feedback };
}

function fromAssessment(assessment: StoredAssessment): LastSpoken {
  return { source: 'assessment', name: assessment.observerName, said: assessment };
}

function moveToEnd(items: readonly LastSpoken[], item: LastSpoken): readonly LastSpoken[] {
  const isSameSpeaker = (other: LastSpoken): boolean =>
    other.said.promptName === item.said.promptName && other.source === item.source && other.name === item.name;
  return [...items.filter((other) => !isSameSpeaker(other)), item];
}

/**
 * Fills the slice from feedback that was given before the slice was registered. Cost: O(retained) the first time, else
 * O(1).
 */
export function rebuildCadence(session: Session): void {
  if (session.slice(CadenceSlice).total() > 0) return;
  if (session.slice(Feedback).total() === 0 && session.slice(Assessment).total() === 0) return;
  const retained = recentlySpoken(session, Feedback.retain);
  if (retained.length > 0) session.dispatch(CadenceRebuilt(retained.reduce(moveToEnd, [])));
}

/** Returns the newest `count` items of both slices, oldest first. Cost: O(count). */
export function recentlySpoken(session: Session, count: number): readonly LastSpoken[] {
  return [
    ...session.slice(Feedback).last(count).map(fromFeedback),
    ...session.slice(Assessment).last(count).map(fromAssessment),
  ]
    .sort((a, b) => a.said.atMs - b.said.atMs || a.said.callIndex - b.said.callIndex)
    .slice(-count);
}

/** Returns the newest matching item under a prompt. Cost: O(speakers). */
export function latestSpoken(
  session: Session,
  promptName: string,
  matches: (item: LastSpoken) => boolean = () => true,
): LastSpoken | undefined {
  const items = session.slice(CadenceSlice).all();
  return findLast(items, (item) => item.said.promptName === promptName && matches(item));
}
