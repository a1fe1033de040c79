import { isJsonObject } from '../base/json.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';
import { WORDS } from './words.ts';

/** `session_event` records that hosts of agents leave: what a run that has not ended waits for. Their data may name a `tool`. */
export const PERMISSION_REQUESTED = 'permission_requested';
export const PERMISSION_DENIED = 'permission_denied';

/** What a run waits for from this record on, in words; empty where it no longer waits, undefined where the record says nothing of it. */
export function waitText({ data, event_type: type }: PayloadOfEvent): string | undefined {
  const tool = isJsonObject(data) && typeof data['tool'] === 'string' ? ` to use ${data['tool']}` : '';
  if (type === PERMISSION_REQUESTED) return `${WORDS.reason.permission}${tool}`;
  return type === PERMISSION_DENIED ? '' : undefined;
}

type PayloadOfEvent = Extract<TrajectoryPayload, { readonly kind: 'session_event' }>;
