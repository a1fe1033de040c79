import type { StoredAssessment } from '../../records/assessment.ts';
import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, type Slice } from '../../session/define-slice.ts';
import { appendAll } from '../../session/reducers.ts';

/** What a trajectory observer said, as it was produced. */
export type Assessment = StoredAssessment;

/** An assessment was produced: subscribe to see it. Dispatched by what runs the observers. */
export const AssessmentEvent: EventType<Assessment> = defineEvent<Assessment>('assessment');

/** All assessments of the session, the last 1,000 retained: `session.slice(Assessment).latest()`. */
export const Assessment: Slice<Assessment> = defineSlice<Assessment>('assessment').on(AssessmentEvent, appendAll);
