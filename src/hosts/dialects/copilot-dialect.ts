import { isJsonObject, present } from '../../core/base/json.ts';
import { copilotImporter } from '../../formats/copilot/copilot.ts';
import { shellAnswer } from '../../core/detect/calls/shell-answer.ts';
import { stopReason, type HookDialect, type HookPayload } from './hook-dialect.ts';

/**
 * Also other programs that read `.github/hooks`. Events have camel-case fields without the event's name, or Claude
 * Code's names. Calls have no ids, no event ends a batch, a command that exits with 1 counts as a success, and a forced
 * turn starts with a prompt event.
 */
export const copilotDialect: HookDialect = {
  host: 'copilot',
  events: [
    'sessionStart',
    'userPromptSubmitted',
    'preToolUse',
    'postToolUse',
    'postToolUseFailure',
    'agentStop',
    'sessionEnd',
  ],
  importer: copilotImporter,
  isFrom: (json) =>
    isCamel(json) || (typeof json['timestamp'] === 'string' && json['permission_mode'] === undefined && hasName(json)),
  toPayload(json) {
    const event = isCamel(json) ? namesOfClaude(json) : json;
    if (event === undefined) return undefined;
    const { timestamp, tool_result: answer, tool_name: tool, hook_event_name: name } = event;
    const result = isJsonObject(answer) ? (answer['text_result_for_llm'] ?? '') : answer;
    const type = isJsonObject(answer) ? answer['result_type'] : undefined;
    const exitCode = typeof result === 'string' ? (shellAnswer(result)?.exitCode ?? 0) : 0;
    const ofAgent = agentOf(json);
    const isEnd = name === 'PostToolUse' || name === 'PostToolUseFailure';
    return {
      ...event,
      ...ofAgent,
      forced_prompts: true,
      has_no_batches: true,
      ...(isCamel(json) ? {} : { names_differ: true }),
      ...(tool === undefined
        ? {}
        : { tool_use_id: String(new Date(String(timestamp)).getTime()), pairs_by_arguments: true }),
      ...(isEnd ? { tool_response: result ?? '' } : {}),
      ...(exitCode !== 0 || (type !== undefined && type !== 'success') ? { is_error: true } : {}),
      ...(type === 'rejected' || type === 'denied' ? { outcome: 'refused' } : {}),
      ...(name === 'Stop' && ofAgent !== undefined ? { hook_event_name: 'SubagentStop' } : {}),
      // Copilot CLI writes its file while the hook runs.
      ...(LAGS.has(name) ? { written_until_ms: Date.parse(String(timestamp)) } : {}),
    };
  },
  toAnswer(answer, input) {
    const { hookSpecificOutput: output } = answer;
    if (input.kind === 'stopped' && output !== undefined) return { decision: 'block', reason: stopReason(answer) };
    // Which of the two fields Copilot reads depends on the event and its format.
    return output === undefined ? answer : { ...answer, additionalContext: output.additionalContext };
  },
};

/** Events for which everything before them in the file matters. */
const LAGS: ReadonlySet<unknown> = new Set(['PreToolUse', 'Stop', 'SessionEnd']);

/** The session and the subagent of an event, in which a subagent has a session of its own. */
function agentOf({ agentId, agentType, parentAgentId }: HookPayload): HookPayload | undefined {
  if (typeof agentId !== 'string' || typeof parentAgentId !== 'string') return undefined;
  return { session_id: parentAgentId, agent_id: agentId, agent_type: agentType };
}

function hasName(json: HookPayload): boolean {
  return typeof json['hook_event_name'] === 'string';
}

function isCamel(json: HookPayload): boolean {
  return !hasName(json) && typeof json['sessionId'] === 'string' && typeof json['timestamp'] === 'number';
}

/** Converts an event to the names of Claude Code. The fields of the payload determine which event it is. */
function namesOfClaude(json: HookPayload): HookPayload | undefined {
  const { error, hookName, prompt, reason, source, stopReason: stopped, toolName, toolResult } = json;
  const names: readonly (readonly [name: string, isIt: boolean])[] = [
    ['', hookName !== undefined],
    ['PostToolUse', toolResult !== undefined],
    ['PostToolUseFailure', toolName !== undefined && error !== undefined],
    ['PreToolUse', toolName !== undefined],
    ['UserPromptSubmit', prompt !== undefined],
    ['Stop', stopped !== undefined],
    ['SessionEnd', reason !== undefined],
    ['SessionStart', source !== undefined],
  ];
  const name = names.find(([, isIt]) => isIt)?.[0] ?? '';
  if (name === '') return undefined;
  const result = isJsonObject(toolResult) ? toolResult : {};
  return {
    hook_event_name: name,
    session_id: json['sessionId'],
    timestamp: new Date(Number(json['timestamp'])).toISOString(),
    cwd: json['cwd'],
    ...present({ prompt, reason, source, error, transcript_path: json['transcriptPath'] }),
    ...(stopped === undefined ? {} : { stop_hook_active: json['stop_hook_active'] }),
    ...(toolName === undefined ? {} : { tool_name: toolName, tool_input: json['toolArgs'] }),
    ...(toolResult === undefined
      ? {}
      : { tool_result: { result_type: result['resultType'], text_result_for_llm: result['textResultForLlm'] } }),
  };
}
