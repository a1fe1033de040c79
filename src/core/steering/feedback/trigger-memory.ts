import { type AdviceView, type LedgerEntry, recordAdvice } from '../advice/advice-ledger.ts';
import type { AdviceCandidate } from '../advice/advice.ts';
import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, type Slice, type SliceView } from '../../session/define-slice.ts';
import { append, none, replace } from '../../session/slice-operation.ts';
import type { Session } from '../../session/session.ts';

/** A file trigger that has fired. Each file trigger fires once per run. */
export interface FiredFileTrigger {
  /** `Speaker.key`. */
  readonly speaker: string;
  readonly path: string;
}

/** Dispatched when a speaker ran after its file trigger fired. */
export const FileTriggerFired: EventType<FiredFileTrigger> = defineEvent<FiredFileTrigger>('file-trigger/fired');

export const FiredFileTrigger: Slice<FiredFileTrigger> = defineSlice<FiredFileTrigger>('file-trigger').on(
  FileTriggerFired,
  (_view, { data }) => append(data),
);

/** The pattern for which a provider or observer ran, and the counts of the run at that time. */
export interface PatternTriggerServed {
  readonly candidate: AdviceCandidate;
  readonly view: AdviceView;
}

/** Dispatched when a speaker ran after its pattern trigger fired. */
export const PatternTriggerFired: EventType<PatternTriggerServed> =
  defineEvent<PatternTriggerServed>('pattern-trigger/fired');

/** Pattern triggers that have fired. The ledger has one entry per pattern and speaker (provider or observer). */
export const PatternTriggerLedger: Slice<LedgerEntry> = defineSlice<LedgerEntry>('pattern-trigger').on(
  PatternTriggerFired,
  (ledger, { data }) => replace(recordAdvice(ledger.all(), data.candidate, data.view)),
);

/** Event types that were dispatched, but for which no provider or observer has run yet. */
export interface PendingObserverTrigger {
  /** Names of event types, in order of arrival. */
  readonly eventTypes: readonly string[];
}

/** Dispatched when an event arrives whose type a trigger names. */
export const ObserverTriggerRequested: EventType<string> = defineEvent<string>('observer-trigger/requested');

const ObserverTriggersServed: EventType<readonly string[]> = defineEvent<readonly string[]>('observer-trigger/served');

/**
 * The slice has one item, which is replaced on each change. It is a slice so that pending triggers are kept across
 * processes.
 */
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

/** Removes pending event types for which a speaker ran. */
export function clearPendingTriggers(session: Session, eventNames: readonly string[], atMs: number): void {
  if (eventNames.length > 0) session.dispatch(ObserverTriggersServed(eventNames, { atMs }));
}
