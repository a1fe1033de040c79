import { defineEvent, type EventType } from '../../session/define-event.ts';
import { defineSlice, type Slice, type SliceView } from '../../session/define-slice.ts';
import type { Session } from '../../session/session.ts';
import { none, replace } from '../../session/slice-operation.ts';

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
