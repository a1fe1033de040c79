import { isJsonObject } from '../base/json.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';
import { WORDS } from './words.ts';

/** The types of `session_event` records in which hosts report permissions. Their data may have a `tool`. */
export const PERMISSION_REQUESTED = 'permission_requested';
export const PERMISSION_DENIED = 'permission_denied';

/**
 * Returns the permission that a run waits for after this record. Returns `''` if the run no longer waits, and undefined for
 * other records.
 */
export function waitText({ data, event_type: type }: PayloadOfEvent): string | undefined {
  const tool = isJsonObject(data) && typeof data['tool'] === 'string' ? ` to use ${data['tool']}` : '';
  if (type === PERMISSION_REQUESTED) return `${WORDS.reason.permission}${tool}`;
  return type === PERMISSION_DENIED ? '' : undefined;
}

type PayloadOfEvent = Extract<TrajectoryPayload, { readonly kind: 'session_event' }>;
