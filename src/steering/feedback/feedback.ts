import type { StoredFeedback } from '../../records/feedback.ts';
import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, type Slice } from '../../session/define-slice.ts';
import { appendAll } from '../../session/reducers.ts';

/** Progress feedback, as it was produced. */
export type Feedback = StoredFeedback;

/** Feedback was produced: subscribe to see it. Dispatched by what runs the providers. */
export const FeedbackEvent: EventType<Feedback> = defineEvent<Feedback>('feedback');

/** All feedback of the session, the last 1,000 pieces retained: `session.slice(Feedback).latest()`. */
export const Feedback: Slice<Feedback> = defineSlice<Feedback>('feedback').on(FeedbackEvent, appendAll);
