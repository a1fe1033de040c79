import { textOrUndefined } from '../../base/json-member.ts';
import { present } from '../../base/present.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { RunEnded } from '../../records/trajectory-record.ts';

/** Returns how the run ended, from `extra.coxswain` `{outcome, success?, reward?, labels?}`. ATIF itself has no such field. */
export function atifOutcome(trajectory: Readonly<Record<string, unknown>>): RunEnded | undefined {
  const extra = isJsonObject(trajectory.extra) ? trajectory.extra : {};
  const ours = isJsonObject(extra.coxswain) ? extra.coxswain : {};
  const outcome = textOrUndefined(ours.outcome);
  const success = typeof ours.success === 'boolean' ? ours.success : undefined;
  const reward = typeof ours.reward === 'number' ? ours.reward : undefined;
  if (outcome === undefined && success === undefined && reward === undefined) return undefined;
  return {
    kind: 'run_ended',
    outcome: outcome ?? 'ended',
    new_messages: [],
    ...present({ success, reward }),
    // An object in decoded JSON is a JSON object.
    ...(isJsonObject(ours.labels) ? { labels: ours.labels as JsonObject } : {}),
  };
}
