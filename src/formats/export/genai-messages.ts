import { assertNever } from '../../core/base/assert-never.ts';
import { present } from '../../core/base/present.ts';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { GENAI } from '../otlp/genai-names.ts';
import type { StoredContent, StoredContentBlock, StoredMessage } from '../../core/records/stored-message.ts';
import type { SpanAttributes } from './run-span.ts';

/** A message in the format of the OpenTelemetry semantic conventions for GenAI. */
export interface GenaiMessage {
  readonly role: string;
  readonly parts: readonly JsonObject[];
}

type Answer = Extract<StoredMessage, { readonly role: 'assistant' }>;

/** Returns attributes for the model, and for its provider if the model name identifies it. */
export function modelAttributes(modelId: string | undefined): SpanAttributes {
  const provider = PROVIDERS.find(([name]) => modelId !== undefined && name.test(modelId));
  return present({ [GENAI.requestModel]: modelId, [GENAI.provider]: provider?.[1] });
}

/** Converts a system or user message. */
export function saidMessage({ content, role }: StoredMessage): GenaiMessage {
  return { role, parts: partsOf(content) };
}

/** Returns the attributes of a model response. @param hasContent  false: omits the text of the response */
export function answerAttributes(answer: Answer, runModelId: string | undefined, hasContent: boolean): SpanAttributes {
  const { content, model_id: modelId = runModelId, stop_reason: reason, usage = {} } = answer;
  const model = modelAttributes(modelId);
  const { cache_read_tokens: readTokens, cache_write_tokens: write, input_tokens: input } = usage;
  // The conventions count cached tokens as input tokens; Anthropic counts them separately.
  const extraTokens = model[GENAI.provider] === 'anthropic' ? (readTokens ?? 0) + (write ?? 0) : 0;
  const message = { role: 'assistant', parts: partsOf(content), finish_reason: reason ?? 'stop' };
  return {
    ...model,
    ...present({
      [GENAI.responseModel]: answer.model_id,
      [GENAI.finishReasons]: reason === undefined ? undefined : [reason],
      [GENAI.inputTokens]: input === undefined ? undefined : input + extraTokens,
      [GENAI.outputTokens]: usage.output_tokens,
      [GENAI.cacheReadTokens]: readTokens,
      [GENAI.cacheWriteTokens]: write,
      [GENAI.reasoningTokens]: usage.reasoning_tokens,
      [GENAI.outputMessages]: hasContent ? JSON.stringify([message]) : undefined,
    }),
  };
}

const PROVIDERS: readonly (readonly [name: RegExp, provider: string])[] = [
  [/claude/i, 'anthropic'],
  [/gpt|codex|\bo\d/i, 'openai'],
  [/gemini/i, 'gcp.gemini'],
  [/mistral|devstral/i, 'mistral_ai'],
  [/deepseek/i, 'deepseek'],
  [/grok/i, 'x_ai'],
];

function partsOf(content: StoredContent): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', content }] : content.map(partOf);
}

function partOf(block: StoredContentBlock): JsonObject {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return { type: block.type, content: block.text };
    case 'tool_call':
      return { type: 'tool_call', id: block.id, name: block.name, arguments: block.args };
    case 'image': {
      const { bytes, digest, media_type: mime_type, url } = block;
      if (url !== undefined) return { type: 'uri', modality: 'image', mime_type, uri: url };
      return { type: 'image', mime_type, ...present<Readonly<Record<string, Json | undefined>>>({ bytes, digest }) };
    }
    case 'other':
      return { type: 'other', value: block.value };
    default:
      return assertNever(block);
  }
}
