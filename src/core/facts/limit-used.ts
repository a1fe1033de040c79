import { isJsonObject, type JsonObject, present } from '../base/json.ts';
import type { TrajectoryPayload } from '../records/trajectory-record.ts';
import { LIMIT_USED } from '../records/words.ts';

/** The used share of a limit of the model's provider, as the host reported it. Plain JSON. */
export interface LimitUsed {
  readonly usedPercent: number;
  /** Length of the limit's window: 300 for five hours. */
  readonly windowMinutes: number;
  /** Unix milliseconds. Absent if the host did not say it. */
  readonly resetsAtMs?: number;
}

/** From this share on, a limit is near. */
export const LIMIT_AHEAD_PERCENT = 90;

export function limitIn(payload: TrajectoryPayload): LimitUsed | undefined {
  if (payload.kind !== 'session_event' || payload.event_type !== LIMIT_USED || !isJsonObject(payload.data))
    return undefined;
  const { resets_at_unix_ms: resetsAtMs, used_percent: usedPercent, window_minutes: windowMinutes } = payload.data;
  if (typeof usedPercent !== 'number' || typeof windowMinutes !== 'number') return undefined;
  return { usedPercent, windowMinutes, ...(typeof resetsAtMs === 'number' ? { resetsAtMs } : {}) };
}

/** Hosts report a limit after each answer. Its record is news at each tenth, from the half of the limit. */
export class LimitSteps {
  readonly #tenths = new Map<number, number>();

  /** Returns the data of the record; undefined if the report is no news. */
  take({ resetsAtMs, usedPercent, windowMinutes }: LimitUsed): JsonObject | undefined {
    const tenth = Math.floor(usedPercent / 10);
    if (usedPercent < 50 || windowMinutes <= 0 || this.#tenths.get(windowMinutes) === tenth) return undefined;
    this.#tenths.set(windowMinutes, tenth);
    return {
      used_percent: usedPercent,
      window_minutes: windowMinutes,
      ...present({ resets_at_unix_ms: resetsAtMs }),
    };
  }
}
