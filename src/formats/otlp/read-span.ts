import {
  type JsonMembers,
  membersOf,
  textOrUndefined,
  isJsonObject,
  type Json,
  type JsonObject,
  type Mutable,
} from '../../core/base/json.ts';
import type { StoredUsage } from '../../core/records/agent-message.ts';
import { asJson, sourceResult } from '../parts/source-content.ts';
import { decodedValue, langChainMessage, notCaptured, readMessages, type TracedMessage } from './read-messages.ts';
import { attributeOf, type TraceSpan } from './trace-span.ts';

/** Attributes of the GenAI semantic conventions (open-telemetry/semantic-conventions-genai, November 2026). Values that are objects may be JSON text. */
export const GENAI = {
  /** One of `GENAI_OPERATIONS`. */
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  conversationId: 'gen_ai.conversation.id',
  agentId: 'gen_ai.agent.id',
  agentName: 'gen_ai.agent.name',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  /** List of parts. Contains the system prompt if it is not a message. */
  systemInstructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  toolDefinitions: 'gen_ai.tool.definitions',
  toolName: 'gen_ai.tool.name',
  toolCallId: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  /** All input tokens, including cached tokens. */
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  errorType: 'error.type',
} as const;

export const GENAI_OPERATIONS = { agent: 'invoke_agent', chat: 'chat', tool: 'execute_tool' } as const;

export const GENAI_EVENTS = {
  /** Details of a model request span, sent as attributes or as a separate event or log record. */
  operationDetails: 'gen_ai.client.inference.operation.details',
  /** With `exception.type` and `exception.message`. */
  exception: 'exception',
} as const;

/** Log events of version 1.36 of the conventions and earlier, one per message of a request or answer. Maps each to the role. */
export const GENAI_MESSAGE_EVENTS: ReadonlyMap<unknown, 'system' | 'user' | 'assistant' | 'tool' | 'choice'> = new Map([
  ['gen_ai.system.message', 'system'],
  ['gen_ai.user.message', 'user'],
  ['gen_ai.assistant.message', 'assistant'],
  ['gen_ai.tool.message', 'tool'],
  ['gen_ai.choice', 'choice'],
]);

type SpanRole = 'agent' | 'model' | 'tool' | 'prompt';

/** Fields that are read from a span. The value of a field is the first of its attributes that is present. */
type SpanField =
  | 'conversation'
  | 'agent'
  | 'model'
  | 'finish'
  | 'system'
  | 'input'
  | 'output'
  | 'tool'
  | 'callId'
  | 'arguments'
  | 'result'
  | 'success'
  | 'error'
  | 'inputTokens'
  | 'outputTokens'
  | 'cacheReadTokens'
  | 'cacheWriteTokens'
  | 'reasoningTokens'
  | 'totalTokens'
  | 'cost';

interface Convention {
  readonly name: string;
  /** Attributes that contain the kind of a span. The values of each are in lower case. */
  readonly kinds: Readonly<Record<string, Readonly<Record<string, SpanRole>>>>;
  readonly fields: Readonly<Partial<Record<SpanField, readonly string[]>>>;
  /** True if the name of an agent span is the name of the agent. */
  readonly isNamedForAgent?: true;
}

const LANGFUSE: Convention = {
  name: 'Langfuse',
  kinds: { 'langfuse.observation.type': { agent: 'agent', generation: 'model', tool: 'tool' } },
  isNamedForAgent: true,
  fields: {
    conversation: ['langfuse.session.id', 'session.id'],
    model: ['langfuse.observation.model.name'],
    input: ['langfuse.observation.input'],
    output: ['langfuse.observation.output'],
    tool: [GENAI.toolName, 'tool.name'],
    callId: ['langfuse.observation.metadata.tool_call_id', GENAI.toolCallId],
    arguments: ['langfuse.observation.input'],
    result: ['langfuse.observation.output'],
    error: ['langfuse.observation.status_message', 'exception.message'],
    inputTokens: ['langfuse.observation.usage_details.input'],
    outputTokens: ['langfuse.observation.usage_details.output'],
    cacheReadTokens: [
      'langfuse.observation.usage_details.input_cache_read',
      'langfuse.observation.usage_details.input_cached_tokens',
      'langfuse.observation.usage_details.cache_read_input_tokens',
    ],
    cacheWriteTokens: [
      'langfuse.observation.usage_details.input_cache_creation',
      'langfuse.observation.usage_details.cache_creation_input_tokens',
    ],
    reasoningTokens: [
      'langfuse.observation.usage_details.output_reasoning',
      'langfuse.observation.usage_details.output_reasoning_tokens',
    ],
    totalTokens: ['langfuse.observation.usage_details.total'],
  },
};

/** The first that knows the kind of a span, as of November 2026: GenAI, OpenInference, OpenLLMetry, Langfuse, Claude Code, Codex. */
const CONVENTIONS: readonly Convention[] = [
  {
    name: 'GenAI',
    kinds: {
      [GENAI.operation]: {
        [GENAI_OPERATIONS.agent]: 'agent',
        [GENAI_OPERATIONS.chat]: 'model',
        generate_content: 'model',
        text_completion: 'model',
        [GENAI_OPERATIONS.tool]: 'tool',
      },
    },
    fields: {
      conversation: [GENAI.conversationId, 'session.id'],
      agent: [GENAI.agentName],
      model: [GENAI.responseModel, GENAI.requestModel],
      finish: [GENAI.finishReasons],
      system: [GENAI.systemInstructions],
      // The second name of each is from instrumentations that are older than messages as attributes.
      input: [GENAI.inputMessages, 'gen_ai.prompt'],
      output: [GENAI.outputMessages, 'gen_ai.completion'],
      // The second name of each is from OpenLLMetry's instrumentation of LangChain.
      tool: [GENAI.toolName, 'traceloop.entity.name'],
      callId: [GENAI.toolCallId],
      arguments: [GENAI.toolArguments, 'traceloop.entity.input'],
      result: [GENAI.toolResult, 'traceloop.entity.output'],
      error: ['exception.message', GENAI.errorType],
      inputTokens: [GENAI.inputTokens, 'gen_ai.usage.prompt_tokens'],
      outputTokens: [GENAI.outputTokens, 'gen_ai.usage.completion_tokens'],
      cacheReadTokens: [GENAI.cacheReadTokens],
      cacheWriteTokens: [GENAI.cacheWriteTokens],
      reasoningTokens: [GENAI.reasoningTokens],
    },
  },
  {
    name: 'OpenInference',
    kinds: { 'openinference.span.kind': { agent: 'agent', llm: 'model', tool: 'tool' } },
    isNamedForAgent: true,
    fields: {
      conversation: ['session.id'],
      agent: ['agent.name'],
      model: ['llm.model_name'],
      finish: ['llm.finish_reason'],
      input: ['llm.input_messages', 'input.value'],
      output: ['llm.output_messages', 'output.value'],
      tool: ['tool.name'],
      callId: ['tool_call.id', 'tool.id'],
      arguments: ['input.value', 'tool_call.function.arguments'],
      result: ['output.value'],
      error: ['exception.message'],
      inputTokens: ['llm.token_count.prompt'],
      outputTokens: ['llm.token_count.completion'],
      cacheReadTokens: ['llm.token_count.prompt_details.cache_read'],
      cacheWriteTokens: ['llm.token_count.prompt_details.cache_write'],
      reasoningTokens: ['llm.token_count.completion_details.reasoning'],
      totalTokens: ['llm.token_count.total'],
      cost: ['llm.cost.total'],
    },
  },
  {
    name: 'OpenLLMetry',
    kinds: {
      'traceloop.span.kind': { agent: 'agent', tool: 'tool' },
      'llm.request.type': { chat: 'model', completion: 'model' },
    },
    fields: {
      conversation: ['traceloop.association.properties.session_id', 'traceloop.association.properties.thread_id'],
      agent: ['gen_ai.agent.name', 'traceloop.entity.name'],
      model: ['gen_ai.response.model', 'gen_ai.request.model'],
      finish: ['gen_ai.completion.0.finish_reason'],
      input: ['gen_ai.prompt', 'gen_ai.input.messages', 'traceloop.entity.input'],
      output: ['gen_ai.completion', 'gen_ai.output.messages', 'traceloop.entity.output'],
      tool: ['traceloop.entity.name'],
      arguments: ['traceloop.entity.input'],
      result: ['traceloop.entity.output'],
      error: ['exception.message'],
      inputTokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
      outputTokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
      cacheReadTokens: ['gen_ai.usage.cache_read_input_tokens'],
      cacheWriteTokens: ['gen_ai.usage.cache_creation_input_tokens'],
      reasoningTokens: ['gen_ai.usage.reasoning_tokens'],
    },
  },
  LANGFUSE,
  {
    name: 'Claude Code',
    kinds: {
      'event.name': {
        'claude_code.user_prompt': 'prompt',
        'claude_code.api_request': 'model',
        'claude_code.tool_result': 'tool',
      },
    },
    fields: {
      conversation: ['session.id'],
      model: ['model'],
      input: ['prompt'],
      tool: ['tool_name'],
      callId: ['tool_use_id'],
      arguments: ['tool_input', 'tool_parameters'],
      success: ['success'],
      error: ['error'],
      inputTokens: ['input_tokens'],
      outputTokens: ['output_tokens'],
      cacheReadTokens: ['cache_read_tokens'],
      cacheWriteTokens: ['cache_creation_tokens'],
      cost: ['cost_usd'],
    },
  },
  {
    name: 'Codex',
    kinds: {
      'event.name': {
        'codex.user_prompt': 'prompt',
        'codex.sse_event response.completed': 'model',
        'codex.tool_result': 'tool',
      },
    },
    fields: {
      conversation: ['conversation.id'],
      model: ['model'],
      input: ['prompt'],
      tool: ['tool_name'],
      callId: ['call_id'],
      arguments: ['arguments'],
      result: ['output'],
      success: ['success'],
      inputTokens: ['input_token_count'],
      outputTokens: ['output_token_count'],
      cacheReadTokens: ['cached_token_count'],
      reasoningTokens: ['reasoning_token_count'],
    },
  },
];

export interface KnownSpan {
  readonly span: TraceSpan;
  readonly role: SpanRole;
  readonly field: (field: SpanField) => Json | undefined;
  readonly values: (field: SpanField) => readonly Json[];
  readonly isNamedForAgent: boolean;
}

const USAGE: readonly (readonly [keyof StoredUsage, SpanField])[] = [
  ['input_tokens', 'inputTokens'],
  ['output_tokens', 'outputTokens'],
  ['cache_read_tokens', 'cacheReadTokens'],
  ['cache_write_tokens', 'cacheWriteTokens'],
  ['reasoning_tokens', 'reasoningTokens'],
  ['cost_usd', 'cost'],
];

/** @param details  attributes of the span that arrived separately */
export function readSpan(span: TraceSpan, details: JsonObject = {}): KnownSpan | undefined {
  const ofEvents = span.events.filter(
    ({ name }) => name === GENAI_EVENTS.operationDetails || name === GENAI_EVENTS.exception,
  );
  const attributes: JsonObject = Object.assign(
    {},
    ...ofEvents.map((event) => event.attributes),
    details,
    span.attributes,
  );
  const langfuseType = textOrUndefined(attributeOf(attributes, 'langfuse.observation.type'))?.toLowerCase();
  const langfuse = langfuseType === undefined ? undefined : LANGFUSE;
  const isPlainSpan = langfuseType === 'span';
  const langfuseRole = langfuse && roleIn(langfuse, attributes);
  for (const convention of CONVENTIONS) {
    const isTool = isPlainSpan && convention === langfuse && attributeOf(attributes, GENAI.toolName) !== undefined;
    const ownRole = isTool ? 'tool' : roleIn(convention, attributes);
    // Langfuse has a type for agents, so what it calls a span is a part of one, such as an event of BeeAI.
    if (ownRole === undefined || (isPlainSpan && ownRole === 'agent')) continue;
    const role = langfuseRole ?? ownRole;
    // Langfuse moves messages and tokens out of the original attributes.
    const attributesOf = (name: SpanField): readonly string[] => [
      ...(convention.fields[name] ?? []),
      ...((convention === langfuse ? undefined : langfuse?.fields[name]) ?? []),
    ];
    const values = (name: SpanField): readonly Json[] =>
      attributesOf(name)
        .map((attribute) => attributeOf(attributes, attribute))
        .filter((value) => value !== undefined);
    const field = (name: SpanField): Json | undefined => {
      for (const attribute of attributesOf(name)) {
        const value = attributeOf(attributes, attribute);
        if (value !== undefined) return value;
      }
      return undefined;
    };
    return { span, role, field, values, isNamedForAgent: convention.isNamedForAgent === true };
  }
  return undefined;
}

export function isOfAgent(span: TraceSpan): boolean {
  return span.details === true || readSpan(span) !== undefined;
}

function roleIn({ kinds }: Convention, attributes: JsonObject): SpanRole | undefined {
  for (const [attribute, roles] of Object.entries(kinds)) {
    const kind = textOrUndefined(attributeOf(attributes, attribute))?.toLowerCase();
    if (kind !== undefined && Object.hasOwn(roles, kind)) return roles[kind];
  }
  return undefined;
}

export function fieldText({ field }: KnownSpan, name: SpanField): string | undefined {
  return textOrUndefined(field(name));
}

/** Returns a field with any type of value. Text is decoded if it contains an object, a list or a quoted string. */
function valueField({ field }: KnownSpan, name: SpanField): Json | undefined {
  const finishField = field(name);
  return typeof finishField === 'string' && /^\s*[[{"]/.test(finishField) ? decodedValue(finishField) : finishField;
}

/** Of the first attribute with call ids, else with content: some instrumentations write messages twice. */
export function fieldMessages(
  { values }: KnownSpan,
  name: 'input' | 'output',
  role: 'user' | 'assistant',
): readonly TracedMessage[] {
  const forms = values(name).map((value) => readMessages(value, role));
  return forms.find(hasCallIds) ?? forms.find((messages) => messages.some(hasContent)) ?? forms[0] ?? [];
}

function hasCallIds(messages: readonly TracedMessage[]): boolean {
  return messages.some(
    ({ parts, results }) =>
      parts.some((part) => part.type === 'call' && part.call.sourceId !== undefined) ||
      results.some(({ id }) => id !== undefined),
  );
}

function hasContent({ parts, results }: TracedMessage): boolean {
  return parts.length > 0 || results.length > 0;
}

export function agentNameOf(known: KnownSpan): string | undefined {
  return fieldText(known, 'agent') ?? (known.isNamedForAgent ? textOrUndefined(known.span.name) : undefined);
}

export function nameOf(tool: KnownSpan): string {
  const { name } = tool.span;
  const prefix = `${GENAI_OPERATIONS.tool} `;
  const ownName =
    fieldText(tool, 'tool') ?? ((name.startsWith(prefix) ? name.slice(prefix.length) : name) || 'unknown');
  return textOrUndefined(toolMessageIn(tool)?.['name']) ?? ownName;
}

/** Returns the arguments of a call. Missing arguments contain the span id, so that such calls differ. */
export function argumentsOf(tool: KnownSpan): Json {
  const value = valueField(tool, 'arguments');
  return value === undefined ? notCaptured(`span ${tool.span.spanId}`) : functionArguments(value);
}

/** Returns the arguments within the parameters of a function, in the form `{args, kwargs}` of OpenLLMetry. */
function functionArguments(value: Json): Json {
  if (!isJsonObject(value) || !Array.isArray(value['args'])) return value;
  const { args, kwargs, ...others } = value;
  if (Object.keys(others).length > 0) return value;
  if (isJsonObject(kwargs) && args.length === 0) return asJson(kwargs);
  return args.length === 1 && kwargs === undefined ? decodedValue(asJson(args[0])) : value;
}

export function callIdOf(tool: KnownSpan): string | undefined {
  return fieldText(tool, 'callId') ?? textOrUndefined(toolMessageIn(tool)?.['tool_call_id']);
}

export function resultIn(tool: KnownSpan): Json | undefined {
  const message = toolMessageIn(tool);
  return message === undefined ? valueField(tool, 'result') : sourceResult(message['content']);
}

function toolMessageIn(tool: KnownSpan): JsonMembers | undefined {
  const value = valueField(tool, 'result');
  return langChainMessage(membersOf(value)['output']) ?? langChainMessage(value);
}

export function finishReason(known: KnownSpan): string | undefined {
  const finishValue = valueField(known, 'finish');
  // The list has one reason per answer. Only the first answer is read.
  return textOrUndefined(Array.isArray(finishValue) ? finishValue[0] : finishValue);
}

export function spanUsage(known: KnownSpan): StoredUsage | undefined {
  const usage: Mutable<StoredUsage> = {};
  for (const [name, from] of USAGE) {
    const count = countField(known, from);
    if (count !== undefined) usage[name] = count;
  }
  // Gemini and LangChain report reasoning beside the output; only the total includes it.
  const { cache_read_tokens: read = 0, cache_write_tokens: written = 0, input_tokens: input = 0 } = usage;
  const { output_tokens: output } = usage;
  const beyondInput = (countField(known, 'totalTokens') ?? 0) - input - read - written;
  if (output !== undefined && beyondInput > output) usage.output_tokens = beyondInput;
  return Object.keys(usage).length === 0 ? undefined : usage;
}

function countField({ field }: KnownSpan, name: SpanField): number | undefined {
  const value = field(name);
  const count = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? count : undefined;
}

/** The status of a translated span with an outcome and no error does not count: it repeats that of an earlier span. */
export function failedIn(known: KnownSpan): boolean {
  const success = known.field('success');
  if (success === false || success === 'false' || errorTypeOf(known) !== undefined) return true;
  if (known.span.status !== 'error') return false;
  if (!isTranslated(known.span)) return true;
  const outcome = known.field(known.role === 'tool' ? 'result' : 'output');
  return outcome === undefined || known.field('error') !== undefined;
}

/** Returns true for a GenAI span that `@arizeai/openinference-vercel` has rewritten: it has the kinds of both conventions. */
function isTranslated({ attributes }: TraceSpan): boolean {
  const kinds = ['openinference.span.kind', 'gen_ai.operation.name'];
  return kinds.every((kind) => attributeOf(attributes, kind) !== undefined);
}

export function errorTypeOf({ span }: KnownSpan): string | undefined {
  return textOrUndefined(attributeOf(span.attributes, 'error.type'));
}

export function errorText(known: KnownSpan): string | undefined {
  const error = known.field('error');
  const text = isJsonObject(error) ? JSON.stringify(error) : textOrUndefined(error);
  return text ?? known.span.statusMessage ?? errorTypeOf(known);
}
