import { outcomeIn, readHookInput } from '../../adapters/claude/read-hook-input.ts';
import { toolResultOf } from '../../adapters/claude/tool-response.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { present } from '../../core/base/present.ts';
import { usageOfStored } from '../../adapters/host/content-blocks.ts';
import type { AnswerUsage, HostEvent, TranscriptCall } from '../../adapters/host/host-event.ts';
import type { HookPayload } from './hook-dialect.ts';

/**
 * Reads an event in the common format of dialects, spill files and plugins. This is the format of Claude Code with these
 * additional fields:
 *
 * - `host`: the program that sent the event; `host_event`: the program's name for the event
 * - `pairs_by_arguments`: calls have no ids, and `tool_use_id` contains a time
 * - `is_error`: the call failed, although the event reports a success
 * - `outcome`: `refused` or `cancelled`, if the program states it
 * - `batch`: the condition under which the calls of an answer have ended: no call is open (`open-calls`), or all calls with
 *   these ids have ended
 * - `is_mute`: the host ignores the answer to this event
 * - `answers`: calls in the transcript, as one list per answer; calls without `tool_response` have not ended
 * - `usages`: tokens of the model's answers in the transcript, as `TranscriptUsage`
 * - `forced_prompts`: a turn that a hook answer forced starts with a prompt event
 *
 * @returns undefined for an event that coxswain ignores, or an event that lacks a required field
 */
export function readPayload(json: HookPayload): HostEvent | undefined {
  const event = readHookInput(json);
  if (event === undefined) return undefined;
  const { answers, batch, host, host_event: name, usages } = json;
  const common = {
    ...present({
      host: typeof host === 'string' ? host : undefined,
      answers: Array.isArray(answers) ? answers.filter(Array.isArray).map((calls) => calls.flatMap(callOf)) : undefined,
      usages: Array.isArray(usages) ? usages.flatMap(answerUsageOf) : undefined,
    }),
    ...(typeof name === 'string' ? { name } : {}),
  };
  const paired = json['pairs_by_arguments'] === true ? ({ isPairedByArguments: true } as const) : {};
  switch (event.kind) {
    case 'call_issued':
      return { ...event, ...common, call: { ...event.call, ...paired } };
    case 'call_ended': {
      const isError = event.call.isError || json['is_error'] === true;
      return {
        ...event,
        ...common,
        ...(json['is_mute'] === true ? { isMute: true } : {}),
        ...(batch === 'open-calls' || isTextList(batch) ? { batch } : {}),
        call: { ...event.call, ...paired, isError, outcome: outcomeIn(json) },
      };
    }
    case 'prompted':
      return { ...event, ...common, ...(json['forced_prompts'] === true ? { mayBeForced: true } : {}) };
    default:
      return { ...event, ...common };
  }
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function callOf(item: unknown): readonly TranscriptCall[] {
  if (!isJsonObject(item)) return [];
  const { duration_ms: duration, is_error: isError, tool_input: args, tool_name: name, tool_use_id: id } = item;
  if (typeof id !== 'string' || typeof name !== 'string') return [];
  const call = { id, name, args };
  if (item['tool_response'] === undefined) return [call];
  const durationMs = typeof duration === 'number' ? duration : undefined;
  const result = toolResultOf(item['tool_response']);
  const outcome = outcomeIn(item);
  return [{ ...call, ended: { ...call, result, isError: isError === true, outcome, ...present({ durationMs }) } }];
}

function answerUsageOf(item: unknown): readonly AnswerUsage[] {
  if (!isJsonObject(item) || !isJsonObject(item['usage'])) return [];
  const { at_ms: atMs, model, usage: stored } = item;
  const usage = usageOfStored(stored);
  if (typeof atMs !== 'number' || usage === undefined) return [];
  return [{ atMs, usage, ...present({ modelId: typeof model === 'string' ? model : undefined }) }];
}
