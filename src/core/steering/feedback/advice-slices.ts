import type { StoredAssessment, StoredFeedback } from '../../records/feedback.ts';
import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, type Slice } from '../../session/define-slice.ts';
import { appendAll } from '../../session/reducers.ts';
import { append } from '../../session/slice-operation.ts';

export type Feedback = StoredFeedback;

/** Dispatched when feedback is produced. */
export const FeedbackEvent: EventType<Feedback> = defineEvent<Feedback>('feedback');

/** All feedback of the session. The last 1,000 items are retained: `session.slice(Feedback).latest()`. */
export const Feedback: Slice<Feedback> = defineSlice<Feedback>('feedback').on(FeedbackEvent, appendAll);

export type Assessment = StoredAssessment;

/** Dispatched when an assessment is produced. */
export const AssessmentEvent: EventType<Assessment> = defineEvent<Assessment>('assessment');

/** All assessments of the session. The last 1,000 are retained: `session.slice(Assessment).latest()`. */
export const Assessment: Slice<Assessment> = defineSlice<Assessment>('assessment').on(AssessmentEvent, appendAll);

/** How an agent responded to advice. */
export type AcknowledgementResponse = 'accepted' | 'rejected' | 'noted';

/** A recorded response to advice. Plain data. */
export interface Acknowledgement {
  readonly adviceId?: string;
  /** The provider or observer, if the agent stated its name instead of an id. */
  readonly provider?: string;
  /** The call index of the latest advice from that provider. */
  readonly callIndex?: number;
  /** The prompt of that advice. */
  readonly promptName?: string;
  readonly response: AcknowledgementResponse;
  /** At most 500 characters. */
  readonly note?: string;
  /** Unix milliseconds. */
  readonly atMs: number;
}

export const AcknowledgementEvent: EventType<Omit<Acknowledgement, 'atMs'>> =
  defineEvent<Omit<Acknowledgement, 'atMs'>>('acknowledgement');

/** The responses of the session. The last 1,000 are retained. */
export const Acknowledgement: Slice<Acknowledgement> = defineSlice<Acknowledgement>('acknowledgement').on(
  AcknowledgementEvent,
  (_view, { data, atMs }) => append({ ...data, atMs }),
);
