import { toJson } from '../../core/base/to-json.ts';
import type { EndedCall, HostCall } from '../host/host-event.ts';
import { present } from '../../core/base/json.ts';
import type { AgentEvent } from '../../core/records/agent-event.ts';
import type { Usage } from '../../core/records/agent-message.ts';

export function callStarted({ id, name, args, atMs }: HostCall): AgentEvent {
  return { type: 'tool_execution_start', toolCallId: id, toolName: name, args, ...present({ atMs }) };
}

export function callEnded({ id, name, result, isError, outcome, durationMs, endedAtMs }: EndedCall): AgentEvent {
  const more = present({ outcome, durationMs, atMs: endedAtMs });
  return { type: 'tool_execution_end', toolCallId: id, toolName: name, result, isError, ...more };
}

export function callCutOff({ id, name }: Pick<HostCall, 'id' | 'name'>): AgentEvent {
  const result = 'no result was reported';
  return { type: 'tool_execution_end', toolCallId: id, toolName: name, result, isError: false, resultMissing: true };
}

export function answerEvent(
  text: string,
  details: { readonly modelId?: string; readonly usage?: Usage; readonly atMs?: number } = {},
): AgentEvent {
  const { atMs, modelId, usage } = details;
  const message = { role: 'assistant', content: text, ...present({ modelId, usage }) } as const;
  return { type: 'message_end', message, ...present({ atMs }) };
}

/** @param origin `hook` or `message` */
export function unrecognisedEvent(origin: 'hook' | 'message', value: unknown): AgentEvent {
  return { type: 'unrecognised', original: { kind: `claude-agent-sdk/${origin}`, value: toJson(value) } };
}
