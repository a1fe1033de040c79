import { isJsonObject, type Json, type JsonObject, present } from '../../core/base/json.ts';
import type { StoredContentBlock } from '../../core/records/agent-message.ts';
import { storedBlocks, isoTime, textOfBlock, textOfJson } from './transcript.ts';
import type { Transcript, TranscriptAnswer, ExportedCall, TranscriptPart } from './transcript.ts';

/**
 * Converts a run and its child runs to an ATIF 1.7 trajectory. `extra.coxswain` holds data that the importer needs and ATIF has no
 * field for: failures, the outcome of the run, and values that are not text.
 */
export function atifDocument(
  { outcome, parts, run, task }: Transcript,
  children: readonly JsonObject[] = [],
): JsonObject {
  const { agentName = 'unknown', conversationId, modelId, parentRunId, runId } = run;
  // ATIF requires at least one step.
  const request = { type: 'message', role: 'user', content: task ?? '', atMs: run.startedAtMs } as const;
  const isAsked = parts.length > 0 && (task === undefined || parts.some((part) => isUser(part)));
  const steps = (isAsked ? parts : [request, ...parts]).map((part, index) => stepOf(part, index + 1));
  return {
    schema_version: 'ATIF-v1.7',
    session_id: conversationId ?? parentRunId ?? runId,
    trajectory_id: runId,
    agent: { name: agentName, version: 'unknown', ...present({ model_name: modelId }) },
    steps,
    ...(outcome === undefined ? {} : { extra: { coxswain: { ...outcome } } }),
    ...(children.length === 0 ? {} : { subagent_trajectories: children }),
  };
}

function isUser(part: TranscriptPart): boolean {
  return part.type === 'message' && part.role === 'user';
}

function stepOf(part: TranscriptPart, id: number): JsonObject {
  const timestamp = isoTime(part.atMs);
  const step = { step_id: id, ...present({ timestamp }) };
  switch (part.type) {
    case 'message':
      return { ...step, source: part.role, message: messageOf(storedBlocks(part.content)) };
    case 'compaction': {
      const extra = { context_management: { type: 'compaction', trigger: part.trigger } };
      return { ...step, source: 'system', message: '', extra };
    }
    default:
      return { ...step, ...agentStep(part) };
  }
}

function agentStep({ blocks, calls, modelId, usage }: TranscriptAnswer): JsonObject {
  const reasoning = blocks.filter(({ type }) => type === 'reasoning').map(textOfBlock);
  const results = calls.flatMap((call) => (call.answer === undefined ? [] : [resultOf(call.id, call.answer)]));
  return {
    source: 'agent',
    message: messageOf(blocks.filter(({ type }) => type !== 'reasoning')),
    ...present<Readonly<Record<string, Json | undefined>>>({
      model_name: modelId,
      reasoning_content: reasoning.length === 0 ? undefined : reasoning.join('\n'),
      tool_calls: calls.length === 0 ? undefined : calls.map(callOf),
      observation: results.length === 0 ? undefined : { results },
      metrics:
        usage === undefined
          ? undefined
          : present({
              prompt_tokens: usage.input_tokens,
              completion_tokens: usage.output_tokens,
              cached_tokens: usage.cache_read_tokens,
              cost_usd: usage.cost_usd,
            }),
    }),
  };
}

function callOf({ args, id, tool }: ExportedCall): JsonObject {
  const call = { tool_call_id: id, function_name: tool };
  return isJsonObject(args)
    ? { ...call, arguments: args }
    : { ...call, arguments: {}, extra: { coxswain: { arguments: args } } };
}

function resultOf(id: string, { failed, outcome, result }: NonNullable<ExportedCall['answer']>): JsonObject {
  const isRun = outcome === 'ok' || outcome === 'failed';
  const extras = { is_error: failed, ...(isRun ? {} : { outcome }), ...(typeof result === 'string' ? {} : { result }) };
  return { source_call_id: id, content: textOfJson(result), extra: { coxswain: extras } };
}

/** Converts blocks to JSON. A single text block becomes a string. */
function messageOf(blocks: readonly StoredContentBlock[]): Json {
  const isText = blocks.every((block) => block.type !== 'image' || block.url === undefined);
  if (isText && blocks.length < 2) return blocks.map(textOfBlock).join('');
  return blocks.map((block) =>
    block.type === 'image' && block.url !== undefined
      ? { type: 'image', source: { media_type: block.media_type, path: block.url } }
      : { type: 'text', text: textOfBlock(block) },
  );
}
