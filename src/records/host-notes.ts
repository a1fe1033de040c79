import { isJsonObject } from '../base/json.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';
import { WORDS } from './words.ts';

/** Types of `session_event` records of hosts about permissions. Their data may have a `tool`. */
export const PERMISSION_REQUESTED = 'permission_requested';
export const PERMISSION_DENIED = 'permission_denied';

/** The permission that a run waits for after this record; `''` if it no longer waits, undefined for other records. */
export function waitText({ data, event_type: type }: PayloadOfEvent): string | undefined {
  const tool = isJsonObject(data) && typeof data['tool'] === 'string' ? ` to use ${data['tool']}` : '';
  if (type === PERMISSION_REQUESTED) return `${WORDS.reason.permission}${tool}`;
  return type === PERMISSION_DENIED ? '' : undefined;
}

type PayloadOfEvent = Extract<TrajectoryPayload, { readonly kind: 'session_event' }>;
