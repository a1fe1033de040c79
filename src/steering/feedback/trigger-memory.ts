import { type AdviceView, type LedgerEntry, recordAdvice } from '../advice/advice-ledger.ts';
import type { AdviceCandidate } from '../advice/advice.ts';
import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, type Slice, type SliceView } from '../../session/define-slice.ts';
import { append, none, replace } from '../../session/slice-operation.ts';
import type { Session } from '../../session/session.ts';

/** A file trigger that has fired: it does not fire again in this run. */
export interface FiredFileTrigger {
  /** `source:name` of the speaker. */
  readonly speaker: string;
  readonly path: string;
}

/** A speaker ran after its file trigger fired. */
export const FileTriggerFired: EventType<FiredFileTrigger> = defineEvent<FiredFileTrigger>('file-trigger/fired');

/** The file triggers that have fired in this run. */
export const FiredFileTrigger: Slice<FiredFileTrigger> = defineSlice<FiredFileTrigger>('file-trigger').on(
  FileTriggerFired,
  (_view, { data }) => append(data),
);

/** For which pattern a speaker ran, and where the run stood. */
export interface PatternTriggerServed {
  readonly candidate: AdviceCandidate;
  readonly view: AdviceView;
}

/** A speaker ran after its pattern trigger fired. */
export const PatternTriggerFired: EventType<PatternTriggerServed> =
  defineEvent<PatternTriggerServed>('pattern-trigger/fired');

/** The patterns for which pattern triggers have fired, one entry a speaker and pattern. */
export const PatternTriggerLedger: Slice<LedgerEntry> = defineSlice<LedgerEntry>('pattern-trigger').on(
  PatternTriggerFired,
  (ledger, { data }) => replace(recordAdvice(ledger.all(), data.candidate, data.view)),
);

/** Event types that were dispatched and that no provider or observer has run for yet. */
export interface PendingObserverTrigger {
  /** Names of event types, in order of arrival. */
  readonly eventTypes: readonly string[];
}

/** An event of that name arrived that someone waits for. */
export const ObserverTriggerRequested: EventType<string> = defineEvent<string>('observer-trigger/requested');

const ObserverTriggersServed: EventType<readonly string[]> = defineEvent<readonly string[]>('observer-trigger/served');

/** One item, replaced on each change; so that pending triggers outlive the process. */
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

/** Names of the event types that are pending. */
export function pendingTriggers(view: SliceView<PendingObserverTrigger>): readonly string[] {
  return view.latest()?.eventTypes ?? [];
}

/** Forgets pending event types for which someone ran. */
export function clearPendingTriggers(session: Session, eventNames: readonly string[], atMs: number): void {
  if (eventNames.length > 0) session.dispatch(ObserverTriggersServed(eventNames, { atMs }));
}
