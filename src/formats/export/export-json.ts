import { type JsonObject, isJsonObject, type Json, present } from '../../core/base/json.ts';
import { defaultDetectors } from '../../core/detect/detectors/default-detectors.ts';
import {
  type ExportedRun,
  readTranscript,
  storedBlocks,
  isoTime,
  textOfBlock,
  textOfJson,
  type Transcript,
  type TranscriptAnswer,
  type ExportedCall,
  type TranscriptPart,
} from './transcript.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { RunSpan } from './run-span.ts';
import { RunSpans } from './run-spans.ts';
import type { StoredContentBlock } from '../../core/records/agent-message.ts';

export interface ExportedTree extends ExportedRun {
  readonly below: readonly ExportedTree[];
}

/** Builds the tree of a run. A run that is its own descendant is in it once. */
export function exportedTree(
  root: ExportedRun,
  below: (run: RunSummary) => readonly RunSummary[],
  exported: (run: RunSummary) => ExportedRun,
): ExportedTree {
  const seen = new Set<string>();
  const treeOf = (one: ExportedRun): ExportedTree => {
    seen.add(one.run.runId);
    return { ...one, below: below(one.run).flatMap((run) => (seen.has(run.runId) ? [] : [treeOf(exported(run))])) };
  };
  return treeOf(root);
}

const MAX_BATCH_SPANS = 256;
const MAX_BATCH_CHARS = 1_000_000;

/** Converts a run and its child runs to one ATIF document. Memory: all of these runs. */
export async function atifOf({ below, ...run }: ExportedTree): Promise<JsonObject> {
  const children: JsonObject[] = [];
  for (const child of below) children.push(await atifOf(child));
  return atifDocument(await readTranscript(run.records()), children);
}

export async function* chatOf(
  runs: AsyncIterable<ExportedRun>,
  onEmpty: () => void,
): AsyncGenerator<string, void, void> {
  for await (const { records } of runs) {
    const chat = chatMessages(await readTranscript(records()));
    if (chat.messages.length === 0) onEmpty();
    else yield JSON.stringify(chat);
  }
}

/** A request has up to 256 spans or about 1 MB. A larger span is sent in its own request. */
export async function* spanBatches(
  runs: AsyncIterable<ExportedRun>,
  content: boolean,
  rootOf: (runId: string) => Promise<string>,
): AsyncGenerator<readonly RunSpan[], void, void> {
  let batch: RunSpan[] = [];
  let chars = 0;
  for await (const { records, run } of runs) {
    const options = { runId: run.runId, rootRunId: await rootOf(run.runId), content };
    const spans = new RunSpans({ ...options, detectors: defaultDetectors() });
    const batchesOf = async function* (): AsyncGenerator<readonly RunSpan[], void, void> {
      for await (const record of records()) yield spans.take(record);
      yield spans.finish();
    };
    for await (const newSpans of batchesOf()) {
      for (const span of newSpans) {
        const size = JSON.stringify(span).length;
        if (batch.length > 0 && (batch.length === MAX_BATCH_SPANS || chars + size > MAX_BATCH_CHARS)) {
          yield batch;
          batch = [];
          chars = 0;
        }
        batch.push(span);
        chars += size;
      }
    }
  }
  if (batch.length > 0) yield batch;
}

/** ATIF 1.7. `extra.coxswain` holds failures, the outcome, and values that are not text, which ATIF has no field for. */
export function atifDocument(
  { outcome, parts, run, task }: Transcript,
  children: readonly JsonObject[] = [],
): JsonObject {
  const { agentName = 'unknown', conversationId, modelId, parentRunId, runId } = run;
  // ATIF requires at least one step.
  const request = { type: 'message', role: 'user', content: task ?? '', atMs: run.startedAtMs } as const;
  const hasPrompt = parts.some((part) => part.type === 'message' && part.role === 'user');
  const isAsked = parts.length > 0 && (task === undefined || hasPrompt);
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

function messageOf(blocks: readonly StoredContentBlock[]): Json {
  const isText = blocks.every((block) => block.type !== 'image' || block.url === undefined);
  if (isText && blocks.length < 2) return blocks.map(textOfBlock).join('');
  return blocks.map((block) =>
    block.type === 'image' && block.url !== undefined
      ? { type: 'image', source: { media_type: block.media_type, path: block.url } }
      : { type: 'text', text: textOfBlock(block) },
  );
}

/** Converts a run to `{id, messages}` for OpenAI's chat completions. Reasoning, failures and times are omitted. */
export function chatMessages({ parts, run }: Transcript): JsonObject & { readonly messages: readonly JsonObject[] } {
  return { id: run.runId, messages: parts.flatMap(messagesOf) };
}

function messagesOf(part: TranscriptPart): readonly JsonObject[] {
  if (part.type === 'compaction') return [];
  if (part.type === 'message') return [{ role: part.role, content: contentOf(storedBlocks(part.content)) }];
  const { blocks, calls } = part;
  // The API rejects a call without a result.
  const answeredCalls = calls.flatMap(({ answer, ...call }) => (answer === undefined ? [] : [{ ...call, answer }]));
  const text = blocks
    .filter(({ type }) => type !== 'reasoning')
    .map(textOfBlock)
    .join('\n');
  const toolCalls = answeredCalls.map(({ args, id, tool }) => {
    return { id, type: 'function', function: { name: tool, arguments: textOfJson(args) } };
  });
  if (text === '' && toolCalls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    },
    ...answeredCalls.map(({ answer, id }) => ({ role: 'tool', tool_call_id: id, content: textOfJson(answer.result) })),
  ];
}

function contentOf(blocks: readonly StoredContentBlock[]): JsonObject['content'] {
  const hasPicture = blocks.some((block) => block.type === 'image' && block.url !== undefined);
  if (!hasPicture) return blocks.map(textOfBlock).join('\n');
  return blocks.map((block) =>
    block.type === 'image' && block.url !== undefined
      ? { type: 'image_url', image_url: { url: block.url } }
      : { type: 'text', text: textOfBlock(block) },
  );
}
