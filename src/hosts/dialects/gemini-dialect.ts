import { isJsonObject } from '../../core/base/json.ts';
import { shellAnswer } from '../../core/detect/calls/shell-answer.ts';
import { geminiChatImporter } from '../../formats/gemini/gemini.ts';
import { stopReason, type HookDialect } from './hook-dialect.ts';

/** The events of Gemini CLI and the equivalent events of Claude Code. */
const EVENTS: Readonly<Record<string, string>> = {
  SessionStart: 'SessionStart',
  BeforeAgent: 'UserPromptSubmit',
  BeforeTool: 'PreToolUse',
  AfterTool: 'PostToolUse',
  // Gemini CLI sends this event before each request, when all earlier calls have ended.
  BeforeModel: 'PostToolBatch',
  AfterAgent: 'Stop',
  SessionEnd: 'SessionEnd',
};

/** Gemini CLI wraps the text of a hook answer in this element. */
const HOOK_CONTEXT = /<hook_context>[^]*?<\/hook_context>\s*/g;

/**
 * Calls have no ids. The answer to the event of a failed tool is ignored, so its advice waits for `BeforeModel`, whose
 * answer adds a message to one request. A forced turn starts with a prompt event.
 */
export const geminiDialect: HookDialect = {
  host: 'gemini',
  events: Object.keys(EVENTS),
  importer: geminiChatImporter,
  isFrom({ hook_event_name: name, timestamp, transcript_path: transcript }) {
    if (typeof name !== 'string' || typeof timestamp !== 'string') return false;
    const isShared = name === 'SessionStart' || name === 'SessionEnd';
    return isShared ? transcript !== undefined : Object.hasOwn(EVENTS, name);
  },
  toPayload(json) {
    const { hook_event_name: host_event, prompt, timestamp, tool_input, tool_response: response, tool_name } = json;
    const name = EVENTS[String(host_event)];
    if (name === undefined) return undefined;
    const { llmContent: result = '', error } = isJsonObject(response) ? response : {};
    const exitCode = typeof result === 'string' ? (shellAnswer(result)?.exitCode ?? 0) : 0;
    return {
      hook_event_name: name,
      host_event,
      session_id: json['session_id'],
      transcript_path: json['transcript_path'],
      timestamp,
      cwd: json['cwd'],
      source: json['source'],
      reason: json['reason'],
      forced_prompts: true,
      ...(name === 'UserPromptSubmit'
        ? { prompt: typeof prompt === 'string' ? prompt.replace(HOOK_CONTEXT, '') : prompt }
        : {}),
      ...(name === 'Stop'
        ? { stop_hook_active: json['stop_hook_active'], last_assistant_message: json['prompt_response'] }
        : {}),
      ...(name === 'PostToolBatch' ? { tool_calls: [] } : {}),
      ...(tool_name === undefined
        ? {}
        : { tool_name, tool_input, tool_use_id: String(Date.parse(timestamp as string)), pairs_by_arguments: true }),
      ...(name === 'PostToolUse' ? { tool_response: result } : {}),
      ...(error !== undefined || exitCode !== 0 ? { is_error: true } : {}),
      ...(isJsonObject(error) && error['type'] === 'policy_violation' ? { outcome: 'refused' } : {}),
      ...(error === undefined ? {} : { is_mute: true }),
    };
  },
  toAnswer(answer, input, json) {
    const { hookSpecificOutput: output, decision, ...rest } = answer;
    if (input.kind === 'stopped') {
      return output === undefined && decision === undefined ? rest : { decision: 'deny', reason: stopReason(answer) };
    }
    if (output === undefined || input.kind !== 'batch_ended') return answer;
    const request = isJsonObject(json['llm_request']) ? json['llm_request'] : {};
    const before: readonly unknown[] = Array.isArray(request['messages']) ? request['messages'] : [];
    const messages = [...before, { role: 'user', content: output.additionalContext }];
    return {
      ...rest,
      hookSpecificOutput: { hookEventName: output.hookEventName, llm_request: { ...request, messages } },
    };
  },
};
