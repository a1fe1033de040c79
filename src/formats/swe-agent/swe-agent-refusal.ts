import type { Json } from '../../base/json.ts';
import { inferIsError } from '../../calls/answer-rules.ts';

/** How SWE-agent's own commands begin an answer that refuses what was asked. */
const REFUSAL =
  /^\s*(?:Your (?:proposed )?edit (?:has introduced|was NOT applied|could not)|No file open\b|Usage: \w|File \S+ (?:not found|does not exist)|Invalid (?:line number|`\w+` parameter)|Text not found\b|EXECUTION TIMED OUT|Your last command (?:is taking|timed out)|The command '[^\n]{0,200}' was cancelled)/i;

/** Whether a result reads like a failure: the general signs, and the refusals of SWE-agent's own commands. */
export function sweAgentRefusal(result: Json): boolean | undefined {
  if (typeof result !== 'string') return undefined;
  return REFUSAL.test(result.slice(0, 400)) || inferIsError(result);
}
