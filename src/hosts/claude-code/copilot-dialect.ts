import { readHookInput } from '../../adapters/claude/read-hook-input.ts';
import { isJsonObject } from '../../base/json.ts';
import { shellAnswer } from '../../calls/shell-answer.ts';
import type { HostEvent } from '../../host/host-event.ts';
import type { HookAnswer } from './claude-sessions.ts';

type Payload = Readonly<Record<string, unknown>>;

/**
 * Whether an event comes from Copilot CLI, which reads the hooks in a project's `.claude/settings.json` as its own and sends them
 * Claude Code's events with other fields. The payload says so; variables of the environment are set by several programs.
 */
export function isCopilotEvent(json: Payload): boolean {
  return typeof json['timestamp'] === 'string' && json['permission_mode'] === undefined;
}

/**
 * The dialect of Copilot CLI. Calls have no ids and no event ends a batch; a command that exits with 1 is a success to it.
 *
 * @returns undefined for an event that coxswain does not listen to, or one without what it must have
 */
export function readCopilotInput(json: Payload): HostEvent | undefined {
  const at = String(Date.parse(String(json['timestamp'])));
  const event = readHookInput({ ...json, tool_use_id: at, tool_response: textOf(json['tool_result']) });
  if (event?.kind === 'call_issued') return { ...event, call: { ...event.call, isPairedByArguments: true } };
  if (event?.kind !== 'call_ended') return event;
  const { call } = event;
  const exitCode = shellAnswer(call.result)?.exitCode ?? 0;
  const isError = call.isError || exitCode !== 0 || hasFailed(json['tool_result']);
  return { ...event, isBatchless: true, call: { ...call, isError, isPairedByArguments: true } };
}

/** An answer where Copilot CLI looks for it: beside the event's own member, and at a stop as the reason to go on. */
export function copilotAnswer(answer: HookAnswer): HookAnswer {
  const { hookSpecificOutput: output } = answer;
  if (output === undefined) return answer;
  const { hookEventName, additionalContext } = output;
  if (hookEventName === 'Stop' || hookEventName === 'SubagentStop') {
    return { decision: 'block', reason: [answer.reason, additionalContext].filter(Boolean).join('\n\n') };
  }
  return { ...answer, additionalContext };
}

function textOf(result: unknown): unknown {
  return isJsonObject(result) ? (result['text_result_for_llm'] ?? '') : (result ?? '');
}

function hasFailed(result: unknown): boolean {
  const type = isJsonObject(result) ? result['result_type'] : undefined;
  return type !== undefined && type !== 'success';
}
