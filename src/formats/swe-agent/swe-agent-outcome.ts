import { membersOf, numberOrUndefined, textOrUndefined } from '../../base/json-member.ts';
import type { Json } from '../../base/json.ts';
import type { RunEnded } from '../../records/trajectory-record.ts';

const MAX_OUTCOME_CHARS = 80;

/**
 * Returns how the run ended, from `info` of a trajectory file. Undefined without an `exit_status`. A run may be stopped at a
 * limit and then submitted for the agent (`submitted (exit_cost)`). It counts as stopped at the limit.
 */
export function sweAgentOutcome(value: unknown): RunEnded | undefined {
  const info = membersOf(value);
  const status = textOrUndefined(info.exit_status);
  if (status === undefined) return undefined;
  const stats = membersOf(info.model_stats);
  const labels: Record<string, Json> = { exit_status: status };
  const cost = numberOrUndefined(stats.instance_cost);
  const requests = numberOrUndefined(stats.api_calls);
  if (cost !== undefined) labels.cost_usd = cost;
  if (requests !== undefined) labels.api_calls = requests;
  return { kind: 'run_ended', outcome: outcomeOf(status), new_messages: [], labels };
}

function outcomeOf(status: string): string {
  if (/exit_(?:cost|context|total_execution_time)|limit|timeout/i.test(status)) return 'limit';
  if (/^submitted/i.test(status)) return 'ended';
  if (/error|exception|exit_api/i.test(status)) return 'error';
  return status.slice(0, MAX_OUTCOME_CHARS);
}
