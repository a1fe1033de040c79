import { type JsonMembers, isJsonObject } from '../../core/base/json.ts';
import { plainText } from '../parts/plain-text.ts';

const SOURCES: ReadonlySet<unknown> = new Set(['agent', 'user', 'environment', 'hook']);
const SDK_KIND = /^(?:[A-Z]\w*Event|UserRejectObservation|Condensation\w*)$/;
const LOOKED_AT = 16;
/** Kinds of early events, which have no `source` field. */
const EARLY_NAMES: ReadonlySet<string> = new Set(
  (
    'message run run_ipython read write edit browse browse_interactive delegate think recall finish reject null ' +
    'error system agent_state_changed change_agent_state add_task modify_task kill chat user_rejected'
  ).split(' '),
);

/** Returns true for an event of the newer SDK, which has its class in `kind`. */
export function isSdkEvent(value: unknown): value is JsonMembers {
  return (
    isJsonObject(value) && typeof value.kind === 'string' && SDK_KIND.test(value.kind) && SOURCES.has(value.source)
  );
}

/**
 * Returns true for an event of the older stream. It has an `action` or an `observation`, never both. It has no chat role and
 * no `response`, which distinguishes it from SWE-agent's history and steps.
 */
export function isStreamEvent(value: unknown): value is JsonMembers {
  if (!isJsonObject(value) || 'role' in value || 'response' in value) return false;
  return (typeof value.action === 'string') !== (typeof value.observation === 'string');
}

/**
 * Returns the confidence, 0 to 1, that the list contains OpenHands events or pairs of events. It examines the first 16
 * entries. Early events have neither source nor id. They count only if `inRecord` says that a record contains the list.
 */
export function eventsLikeness(list: readonly unknown[], inRecord: boolean): number {
  const firstEntries = list
    .slice(0, LOOKED_AT)
    .flatMap((entry): readonly unknown[] => (Array.isArray(entry) ? (entry as readonly unknown[]) : [entry]));
  if (firstEntries.length === 0) return 0;
  const sureEvents = firstEntries.filter((entry) => isSureEvent(entry));
  if (sureEvents.length === firstEntries.length) return 0.97;
  const possibleEvents = firstEntries.filter((entry) => isSureEvent(entry) || isEarlyEvent(entry));
  if (inRecord) return (possibleEvents.length / firstEntries.length) * 0.95;
  return (sureEvents.length / firstEntries.length) * 0.9;
}

function isSureEvent(value: unknown): boolean {
  return isSdkEvent(value) || (isStreamEvent(value) && SOURCES.has(value.source));
}

function isEarlyEvent(value: unknown): boolean {
  return isStreamEvent(value) && EARLY_NAMES.has(plainText(value.action ?? value.observation));
}
