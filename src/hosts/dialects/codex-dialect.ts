import { basename } from 'node:path';

import { present } from '../../core/base/present.ts';
import { codexAnswers } from './codex-answers.ts';
import { stopReason, type HookDialect } from './hook-dialect.ts';
import { transcriptTail } from './transcript-tail.ts';
import { codexUsages } from './transcript-usage.ts';

/** Events for which the rollout may contain tokens, or calls that no hook reported. */
const WITH_ANSWERS: ReadonlySet<unknown> = new Set(['PreToolUse', 'PostToolUse', 'Stop', 'SessionEnd']);

/**
 * Codex sends the same events as Claude Code, with three differences. No event ends a batch. `PostToolUse` contains no exit
 * code. Most other failures have no event. The rollout at `transcript_path` contains all of this data when the hook starts.
 */
export const codexDialect: HookDialect = {
  host: 'codex',
  events: ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PreCompact', 'Stop', 'SessionEnd'],
  isFrom: ({ transcript_path: path, turn_id: turn }) =>
    (typeof path === 'string' && basename(path).startsWith('rollout-')) || typeof turn === 'string',
  toPayload(json) {
    const { hook_event_name: name, tool_use_id: id, transcript_path: path } = json;
    if (!WITH_ANSWERS.has(name)) return json;
    const entries = [...transcriptTail(path)];
    const answers = codexAnswers(entries);
    const batch = answers.find((calls) => calls.some((call) => call.tool_use_id === id));
    const call = batch?.find((one) => one.tool_use_id === id);
    return {
      ...json,
      answers,
      usages: codexUsages(entries, json['model']),
      ...(name === 'PostToolUse'
        ? {
            // Without a rollout, a turn ends when no call is open.
            batch: batch?.map((one) => one.tool_use_id) ?? 'open-calls',
            ...present({ is_error: call?.is_error, duration_ms: call?.duration_ms }),
          }
        : {}),
    };
  },
  toAnswer: (answer, input) =>
    input.kind === 'stopped' && answer.hookSpecificOutput !== undefined
      ? { decision: 'block', reason: stopReason(answer) }
      : answer,
};
