import type { StoredFeedback } from '../../records/feedback.ts';
import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, type Slice } from '../../session/define-slice.ts';
import { appendAll } from '../../session/reducers.ts';
import type { StoredAssessment } from '../../records/assessment.ts';
import { append } from '../../session/slice-operation.ts';

/** Progress feedback, as it was produced. */
export type Feedback = StoredFeedback;

/** Feedback was produced: subscribe to see it. Dispatched by what runs the providers. */
export const FeedbackEvent: EventType<Feedback> = defineEvent<Feedback>('feedback');

/** All feedback of the session, the last 1,000 pieces retained: `session.slice(Feedback).latest()`. */
export const Feedback: Slice<Feedback> = defineSlice<Feedback>('feedback').on(FeedbackEvent, appendAll);

/** What a trajectory observer said, as it was produced. */
export type Assessment = StoredAssessment;

/** An assessment was produced: subscribe to see it. Dispatched by what runs the observers. */
export const AssessmentEvent: EventType<Assessment> = defineEvent<Assessment>('assessment');

/** All assessments of the session, the last 1,000 retained: `session.slice(Assessment).latest()`. */
export const Assessment: Slice<Assessment> = defineSlice<Assessment>('assessment').on(AssessmentEvent, appendAll);

/** What an agent may answer to advice. */
export type AcknowledgementResponse = 'accepted' | 'rejected' | 'noted';

/** An agent's answer to a piece of advice, as recorded. Plain data. */
export interface Acknowledgement {
  /** The advice, where its id was shown to the agent. */
  readonly adviceId?: string;
  /** Whose advice, where it was named by its provider or observer. */
  readonly provider?: string;
  /** The call index of that provider's latest advice. */
  readonly callIndex?: number;
  /** The prompt of that advice. */
  readonly promptName?: string;
  readonly response: AcknowledgementResponse;
  /** The agent's own words, at most 500 characters. */
  readonly note?: string;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** An agent answered. */
export const AcknowledgementEvent: EventType<Omit<Acknowledgement, 'atMs'>> =
  defineEvent<Omit<Acknowledgement, 'atMs'>>('acknowledgement');

/** The answers of the session, the last 1,000 retained. */
export const Acknowledgement: Slice<Acknowledgement> = defineSlice<Acknowledgement>('acknowledgement').on(
  AcknowledgementEvent,
  (_view, { data, atMs }) => append({ ...data, atMs }),
);
