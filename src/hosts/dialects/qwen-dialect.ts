import { isSessionFile } from '../../formats/find-sessions.ts';
import { qwenImporter } from '../../formats/qwen/qwen.ts';
import { stopReason, type HookDialect } from './hook-dialect.ts';

/**
 * As Claude Code, but: `UserPromptSubmit` comes before each request, with an empty prompt after calls. All results of an answer are
 * then in the chat file. `PostToolBatch` comes for each part of an answer whose calls run at once, so it ends no batch.
 */
export const qwenDialect: HookDialect = {
  host: 'qwen-code',
  events: [
    'SessionStart',
    'UserPromptSubmit',
    'PostCompact',
    'SubagentStart',
    'SubagentStop',
    'Stop',
    'StopFailure',
    'PermissionRequest',
    'SessionEnd',
  ],
  importer: qwenImporter,
  isFrom: ({ session_id: id, timestamp, transcript_path: path }) =>
    typeof timestamp === 'string' && typeof path === 'string' && isSessionFile('qwen-code', String(id), path),
  toPayload(json) {
    const { hook_event_name: host_event, prompt } = json;
    if (host_event === 'UserPromptSubmit' && prompt === '')
      return { ...json, hook_event_name: 'PostToolBatch', host_event, tool_calls: [] };
    // Unlike `PreCompact`, it comes only for a compaction that succeeded.
    if (host_event === 'PostCompact') return { ...json, hook_event_name: 'PreCompact', host_event };
    return { ...json, forced_prompts: true };
  },
  toAnswer: (answer, input) =>
    input.kind === 'stopped' && answer.hookSpecificOutput !== undefined
      ? { decision: 'block', reason: stopReason(answer) }
      : answer,
};
