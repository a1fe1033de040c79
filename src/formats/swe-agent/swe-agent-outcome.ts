import { present, membersOf, numberOrUndefined, textOrUndefined } from '../../core/base/json.ts';
import type { RunEnded } from '../../core/records/trajectory-record.ts';
import { runEnded } from '../parts/run-items.ts';

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
  const figures = { cost_usd: numberOrUndefined(stats.instance_cost), api_calls: numberOrUndefined(stats.api_calls) };
  const labels = { exit_status: status, ...present(figures) };
  return runEnded(outcomeOf(status), { labels });
}

function outcomeOf(status: string): string {
  if (/exit_(?:cost|context|total_execution_time)|limit|timeout/i.test(status)) return 'limit';
  if (/^submitted/i.test(status)) return 'ended';
  if (/error|exception|exit_api/i.test(status)) return 'error';
  return status.slice(0, MAX_OUTCOME_CHARS);
}
