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
  /** List of text. */
  finishReasons: 'gen_ai.response.finish_reasons',
  /** List of parts. Contains the system prompt if it is not a message. */
  systemInstructions: 'gen_ai.system_instructions',
  /** List of `{role, parts}`. */
  inputMessages: 'gen_ai.input.messages',
  /** List of `{role, parts, finish_reason}`. */
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

/** Values of `gen_ai.operation.name`. */
export const GENAI_OPERATIONS = {
  agent: 'invoke_agent',
  chat: 'chat',
  tool: 'execute_tool',
} as const;

/** Names of events. */
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
