import { basename } from 'node:path';

import { present, textOrUndefined, isJsonObject } from '../../core/base/json.ts';
import { CodexCallFacts } from '../../formats/codex/codex-result.ts';
import { codexRolloutImporter } from '../../formats/codex/codex.ts';
import { stopReason, type HookDialect, type HookPayload } from './hook-dialect.ts';
import { lastEntries } from './session-file.ts';

/** As Claude Code, but no event ends a batch, and exit codes and most failures are only in the rollout (`transcript_path`). */
export const codexDialect: HookDialect = {
  host: 'codex',
  events: [
    'SessionStart',
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
    'PreCompact',
    'Stop',
    'SubagentStop',
    'SessionEnd',
  ],
  importer: codexRolloutImporter,
  isFrom: ({ transcript_path: path, turn_id: turn }) =>
    (typeof path === 'string' && basename(path).startsWith('rollout-')) || typeof turn === 'string',
  toPayload: (json) => ({
    ...json,
    has_no_batches: true,
    ...(json['hook_event_name'] === 'PostToolUse' ? factsOf(json) : {}),
  }),
  toAnswer: (answer, input) =>
    input.kind === 'stopped' && answer.hookSpecificOutput !== undefined
      ? { decision: 'block', reason: stopReason(answer) }
      : answer,
};

/** Codex writes how a command ended before its hook runs, and the result after it. */
function factsOf({ tool_use_id: id, transcript_path: path }: HookPayload): HookPayload {
  const facts = new CodexCallFacts();
  for (const { payload, type } of typeof path === 'string' ? lastEntries(path) : [])
    if (type === 'event_msg' && isJsonObject(payload)) facts.note(payload);
  const { durationMs, isError } = facts.look(textOrUndefined(id));
  return present({ is_error: isError, duration_ms: durationMs });
}
