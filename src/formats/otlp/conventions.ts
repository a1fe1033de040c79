import { GENAI, GENAI_OPERATIONS } from './genai-names.ts';

/** Meaning of a span. `prompt` is a message of the user. */
export type SpanRole = 'agent' | 'model' | 'tool' | 'prompt';

/** Fields that are read from a span. The value of a field is the first of its attributes that is present. */
export type SpanField =
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
  | 'cost';

/** Names of the attributes that one family of instrumentation uses. */
export interface Convention {
  readonly name: string;
  /** Attributes that contain the kind of a span. The values of each are in lower case. */
  readonly kinds: Readonly<Record<string, Readonly<Record<string, SpanRole>>>>;
  readonly fields: Readonly<Partial<Record<SpanField, readonly string[]>>>;
  /** True if the name of an agent span is the name of the agent. */
  readonly isNamedForAgent?: true;
}

/**
 * All conventions. The first convention that knows the kind of a span is used. The names are those of November 2026: GenAI
 * conventions, OpenInference, OpenLLMetry (Traceloop), Langfuse's SDK, and log events of Claude Code and Codex.
 */
export const CONVENTIONS: readonly Convention[] = [
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
  {
    name: 'Langfuse',
    kinds: { 'langfuse.observation.type': { agent: 'agent', generation: 'model', tool: 'tool' } },
    isNamedForAgent: true,
    fields: {
      conversation: ['langfuse.session.id', 'session.id'],
      model: ['langfuse.observation.model.name'],
      input: ['langfuse.observation.input'],
      output: ['langfuse.observation.output'],
      callId: ['langfuse.observation.metadata.tool_call_id'],
      arguments: ['langfuse.observation.input'],
      result: ['langfuse.observation.output'],
      error: ['langfuse.observation.status_message', 'exception.message'],
      inputTokens: ['langfuse.observation.usage_details.input'],
      outputTokens: ['langfuse.observation.usage_details.output'],
      cacheReadTokens: [
        'langfuse.observation.usage_details.input_cache_read',
        'langfuse.observation.usage_details.input_cached_tokens',
      ],
      reasoningTokens: [
        'langfuse.observation.usage_details.output_reasoning',
        'langfuse.observation.usage_details.output_reasoning_tokens',
      ],
    },
  },
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
