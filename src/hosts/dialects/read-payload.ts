import { outcomeIn, readHookInput } from '../../adapters/claude/read-hook-input.ts';
import { isJsonObject, present } from '../../core/base/json.ts';
import { usageOfStored } from '../../adapters/host/content-blocks.ts';
import type { AnswerUsage, HostEvent } from '../../adapters/host/host-event.ts';
import type { StoredUsage } from '../../core/records/agent-message.ts';
import type { HookPayload } from './hook-dialect.ts';

/** Tokens of one answer, in the format of a hook payload. */
export interface PluginUsage {
  /** Unix milliseconds. */
  readonly at_ms: number;
  readonly model?: string;
  readonly usage: StoredUsage;
}

/**
 * The format of Claude Code, with: `host`, `host_event` (the program's name for it), `pairs_by_arguments` (calls have
 * no ids, `tool_use_id` contains a time), `is_error` (failed although the event reports success), `outcome`,
 * `has_no_batches`, `is_mute` (the answer is ignored), `usages` (`PluginUsage`), `names_differ` (the session file has
 * other names of tools), `written_until_ms` (see `SessionFile`), `forced_prompts`. Undefined for an event that coxswain
 * ignores, or without a required field.
 */
export function readPayload(json: HookPayload): HostEvent | undefined {
  const event = readHookInput(json);
  if (event === undefined) return undefined;
  const { host, host_event: name, usages } = json;
  const noBatches = json['has_no_batches'] === true ? ({ hasNoBatches: true } as const) : {};
  const common = {
    ...present({
      host: typeof host === 'string' ? host : undefined,
      usages: Array.isArray(usages) ? usages.flatMap(answerUsageOf) : undefined,
    }),
    ...(typeof name === 'string' ? { name } : {}),
  };
  const paired = json['pairs_by_arguments'] === true ? ({ isPairedByArguments: true } as const) : {};
  switch (event.kind) {
    case 'call_issued':
      return { ...event, ...common, ...noBatches, call: { ...event.call, ...paired } };
    case 'call_ended': {
      const isError = event.call.isError || json['is_error'] === true;
      return {
        ...event,
        ...common,
        ...noBatches,
        ...(json['is_mute'] === true ? { isMute: true } : {}),
        call: { ...event.call, ...paired, isError, outcome: outcomeIn(json) },
      };
    }
    case 'prompted':
      return { ...event, ...common, ...(json['forced_prompts'] === true ? { mayBeForced: true } : {}) };
    default:
      return { ...event, ...common };
  }
}

function answerUsageOf(item: unknown): readonly AnswerUsage[] {
  if (!isJsonObject(item) || !isJsonObject(item['usage'])) return [];
  const { at_ms: atMs, model, usage: stored } = item;
  const usage = usageOfStored(stored);
  if (typeof atMs !== 'number' || usage === undefined) return [];
  return [{ atMs, usage, ...present({ modelId: typeof model === 'string' ? model : undefined }) }];
}
