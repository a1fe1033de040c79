import { basename } from 'node:path';

import { present } from '../../core/base/present.ts';
import { stopReason, type HookDialect } from './hook-dialect.ts';
import { transcriptTail } from './transcript-tail.ts';
import { codexUsages } from './transcript-usage.ts';
import { textOrUndefined } from '../../core/base/json-member.ts';
import type { CallOutcome } from '../../core/records/call-outcome.ts';
import { isJsonObject, type Json } from '../../core/base/json.ts';
import { CodexCallFacts, codexResult } from '../../formats/codex/codex-result.ts';
import { codexCall } from '../../formats/codex/codex-rollout.ts';

/** Matches the output of a call whose command is still running. */
const RUNNING = /^Process running with session ID/m;

/** A call in a rollout, in the format of a hook payload. */
interface RolloutCall {
  readonly tool_use_id: string;
  readonly tool_name: string;
  readonly tool_input: Json;
  /** Output of the call. Absent while the call has no output. */
  readonly tool_response?: Json;
  /**
   * True if the call failed. If the rollout does not say, a call with an output counts as failed, because this field is used
   * only for calls whose hook did not run.
   */
  readonly is_error?: boolean;
  /** `refused` or `cancelled`; absent for any other call. */
  readonly outcome?: CallOutcome;
  readonly duration_ms?: number;
}

/** Returns the calls of the current prompt from the end of the rollout, as one list per answer of the model. */
function codexAnswers(entries: readonly Readonly<Record<string, unknown>>[]): readonly (readonly RolloutCall[])[] {
  let facts = new CodexCallFacts();
  let answers: RolloutCall[][] = [[]];
  for (const { type, payload } of entries) {
    if (!isJsonObject(payload)) continue;
    if (type === 'token_usage_record') answers.push([]);
    else if (type === 'event_msg') noteEnd(payload);
    else if (type !== 'response_item') continue;
    else if (payload['type'] === 'message') {
      if (payload['role'] !== 'user') continue;
      facts = new CodexCallFacts();
      answers = [[]];
    } else take(payload);
  }
  return answers.filter((calls) => calls.length > 0);

  /** Handles the end of a command. Codex writes the output of the command after the hook. */
  function noteEnd(event: Readonly<Record<string, unknown>>): void {
    facts.note(event);
    const item = isJsonObject(event['item']) ? event['item'] : event;
    const id = textOrUndefined(item['id']) ?? textOrUndefined(item['call_id']);
    const { isError: is_error, durationMs: duration_ms } = facts.look(id);
    replace(id, present({ is_error, duration_ms }));
  }

  function take(item: Readonly<Record<string, unknown>>): void {
    const { type } = item;
    if (typeof type !== 'string') return;
    if (type.endsWith('_output')) {
      const id = textOrUndefined(item['call_id']);
      const { result, isError, outcome, readsAsError, durationMs } = codexResult(item, facts.take(id));
      replace(id, {
        tool_response: result,
        is_error: isError ?? readsAsError ?? !isRunning(result),
        ...present({ outcome, duration_ms: durationMs }),
      });
    } else if (type.endsWith('_call')) {
      const { args, name, sourceId } = codexCall(item, type);
      if (sourceId !== undefined) answers.at(-1)?.push({ tool_use_id: sourceId, tool_name: name, tool_input: args });
    }
  }

  // Returns true if the command is still running. Otherwise its hook would have run and reported the end.
  function isRunning(result: Json): boolean {
    return typeof result === 'string' && RUNNING.test(result);
  }

  function replace(id: string | undefined, more: Partial<RolloutCall>): void {
    for (const calls of answers) {
      const index = calls.findIndex((call) => call.tool_use_id === id);
      const call = calls[index];
      if (call !== undefined) calls[index] = { ...call, ...more };
    }
  }
}

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
