import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { present } from '../base/present.ts';
import type { StoredContentBlock } from '../records/stored-message.ts';
import type { RunOutcome } from '../run-view/run-verdict.ts';
import { storedBlocks, isoTime, textOfBlock, textOfJson } from './transcript.ts';
import type { Transcript, ExportedCall, TranscriptPart } from './transcript.ts';

/** Returns the JSON text before and after the samples of an Inspect log. @param modelId  model of the first run */
export function inspectFrame(modelId: string | undefined, createdAtMs: number): readonly [head: string, tail: string] {
  const created = isoTime(createdAtMs) ?? new Date(0).toISOString();
  const spec = { eval_id: 'coxswain', created, task: 'coxswain', dataset: {}, model: modelId ?? 'unknown', config: {} };
  return [`{"version":2,"status":"success","eval":${JSON.stringify(spec)},"samples":[`, ']}'];
}

/**
 * Converts a run to a sample of an Inspect log. Calls are in the messages, and their times are in `tool` events. Values without an
 * Inspect field are in `metadata.coxswain` of their message, where the importer reads them.
 */
export function inspectSample({ outcome, parts, run, task }: Transcript): JsonObject {
  const request = parts.find((part) => part.type === 'message' && part.role === 'user');
  const input = task ?? (request?.type === 'message' ? storedBlocks(request.content).map(textOfBlock).join('\n') : '');
  const calls = parts.flatMap((part) => (part.type === 'answer' ? part.calls : []));
  return {
    id: run.runId,
    epoch: 1,
    input,
    target: '',
    messages: parts.flatMap(messagesOf),
    events: calls.flatMap(eventOf),
    ...present({ started_at: isoTime(run.startedAtMs), completed_at: isoTime(run.lastAtMs) }),
    ...(outcome === undefined ? {} : endOf(outcome)),
  };
}

function endOf({ outcome, reason, reward, success }: RunOutcome): JsonObject {
  const value = reward ?? (success === undefined ? undefined : Number(success));
  // Inspect has no field for success, and a score between 0 and 1 does not imply it.
  const gradeMetadata = success === undefined || value === Number(success) ? {} : coxswainMetadata({ success });
  return {
    ...(value === undefined ? {} : { scores: { coxswain: { value, ...gradeMetadata } } }),
    ...(outcome === 'error' ? { error: { message: reason ?? outcome, traceback: '', traceback_ansi: '' } } : {}),
    ...(outcome === 'limit' ? { limit: { type: 'custom', limit: 0 } } : {}),
  };
}

function messagesOf(part: TranscriptPart): readonly JsonObject[] {
  if (part.type === 'compaction') return [];
  if (part.type === 'message') return [{ role: part.role, content: contentOf(storedBlocks(part.content)) }];
  const { blocks, calls, modelId } = part;
  const nonObjectArgs = calls.filter(({ args }) => !isJsonObject(args)).map(({ args, id }) => [id, args] as const);
  return [
    {
      role: 'assistant',
      content: contentOf(blocks),
      ...present({ model: modelId }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }),
      ...(nonObjectArgs.length === 0 ? {} : coxswainMetadata({ arguments: Object.fromEntries(nonObjectArgs) })),
    },
    ...calls.flatMap(resultOf),
  ];
}

function callOf({ args, id, tool }: ExportedCall): JsonObject {
  return { id, function: tool, arguments: isJsonObject(args) ? args : {}, type: 'function' };
}

function resultOf({ answer, id, tool }: ExportedCall): readonly JsonObject[] {
  if (answer === undefined) return [];
  const { failed, result } = answer;
  const content = textOfJson(result);
  return [
    {
      role: 'tool',
      content,
      tool_call_id: id,
      function: tool,
      ...(failed ? { error: { type: 'unknown', message: content.slice(0, 500) } } : {}),
      ...(typeof result === 'string' ? {} : coxswainMetadata({ result })),
    },
  ];
}

function eventOf({ answer, args, id, startMs, tool }: ExportedCall): readonly JsonObject[] {
  const [timestamp, completed] = [isoTime(startMs), isoTime(answer?.endMs ?? 0)];
  if (timestamp === undefined || completed === undefined) return [];
  const call = { id, function: tool, arguments: isJsonObject(args) ? args : {} };
  return [{ event: 'tool', timestamp, completed, working_start: 0, ...call, type: 'function' }];
}

function coxswainMetadata(members: JsonObject): JsonObject {
  return { metadata: { coxswain: members } };
}

function contentOf(blocks: readonly StoredContentBlock[]): Json {
  if (blocks.every(({ type }) => type === 'text') && blocks.length < 2) return blocks.map(textOfBlock).join('');
  return blocks.map((block) => {
    if (block.type === 'reasoning') return { type: 'reasoning', reasoning: block.text };
    if (block.type === 'image' && block.url !== undefined) return { type: 'image', image: block.url };
    return { type: 'text', text: textOfBlock(block) };
  });
}
