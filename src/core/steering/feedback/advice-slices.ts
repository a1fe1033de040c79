import type { StoredAssessment, StoredFeedback } from '../../records/spoken-advice.ts';
import { defineEvent, type EventType } from '../../session/define-event.ts';
import {
  defineSlice,
  type Slice,
  type SliceView,
  appendAll,
  append,
  replace,
  none,
} from '../../session/define-slice.ts';
import type { Session } from '../../session/session.ts';
import { type AdviceView, type LedgerEntry, recordAdvice, type AdviceCandidate } from '../advice/advice.ts';

export type Feedback = StoredFeedback;

export const FeedbackEvent: EventType<Feedback> = defineEvent<Feedback>('feedback');

/** All feedback of the session. The last 1,000 items are retained: `session.slice(Feedback).latest()`. */
export const Feedback: Slice<Feedback> = defineSlice<Feedback>('feedback').on(FeedbackEvent, appendAll);

export type Assessment = StoredAssessment;

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

/** A file trigger that has fired. Each file trigger fires once per run. */
export interface FiredFileTrigger {
  readonly speaker: string;
  readonly path: string;
}

export const FileTriggerFired: EventType<FiredFileTrigger> = defineEvent<FiredFileTrigger>('file-trigger/fired');

export const FiredFileTrigger: Slice<FiredFileTrigger> = defineSlice<FiredFileTrigger>('file-trigger').on(
  FileTriggerFired,
  (_view, { data }) => append(data),
);

export interface PatternTriggerServed {
  readonly candidate: AdviceCandidate;
  readonly view: AdviceView;
}

export const PatternTriggerFired: EventType<PatternTriggerServed> =
  defineEvent<PatternTriggerServed>('pattern-trigger/fired');

export const PatternTriggerLedger: Slice<LedgerEntry> = defineSlice<LedgerEntry>('pattern-trigger').on(
  PatternTriggerFired,
  (ledger, { data }) => replace(recordAdvice(ledger.all(), data.candidate, data.view)),
);

/** Event types that were dispatched, but for which no provider or observer has run yet. */
export interface PendingObserverTrigger {
  /** Names of event types, in order of arrival. */
  readonly eventTypes: readonly string[];
}

export const ObserverTriggerRequested: EventType<string> = defineEvent<string>('observer-trigger/requested');

const ObserverTriggersServed: EventType<readonly string[]> = defineEvent<readonly string[]>('observer-trigger/served');

/** The slice has one item, which is replaced on each change. It is a slice so that pending triggers are kept across processes. */
export const PendingObserverTrigger: Slice<PendingObserverTrigger> = defineSlice<PendingObserverTrigger>(
  'pending-observer-trigger',
  { retain: 1 },
)
  .on(ObserverTriggerRequested, (view, { data }) =>
    pendingTriggers(view).includes(data) ? none : replace([{ eventTypes: [...pendingTriggers(view), data] }]),
  )
  .on(ObserverTriggersServed, (view, { data }) =>
    replace([{ eventTypes: pendingTriggers(view).filter((name) => !data.includes(name)) }]),
  );

export function pendingTriggers(view: SliceView<PendingObserverTrigger>): readonly string[] {
  return view.latest()?.eventTypes ?? [];
}

export function clearPendingTriggers(session: Session, eventNames: readonly string[], atMs: number): void {
  if (eventNames.length > 0) session.dispatch(ObserverTriggersServed(eventNames, { atMs }));
}

export type SpeakerSource = 'feedback' | 'assessment';

export type LastSpoken =
  | { readonly source: 'feedback'; readonly name: string; readonly said: StoredFeedback }
  | { readonly source: 'assessment'; readonly name: string; readonly said: StoredAssessment };

const CadenceRebuilt: EventType<readonly LastSpoken[]> = defineEvent<readonly LastSpoken[]>('feedback/cadence-rebuilt');

/** Per prompt and speaker, the newest last: exact whatever `Feedback` and `Assessment` retain, and short to search. */
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

/** From feedback given before the slice was registered. Cost: O(retained) the first time, else O(1). */
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

/** Slices return frozen lists, on which the built-in method takes six times as long (measured with Node 24). */
export function findLast<Item>(items: readonly Item[], matches: (item: Item) => boolean): Item | undefined {
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index];
    if (item !== undefined && matches(item)) return item;
  }
  return undefined;
}
