import { objectsIn, textOrUndefined, isJsonObject } from '../../core/base/json.ts';
import type { SentRequest } from '../host/conversation.ts';
import { isModels, newsOfItems } from '../host/response-items.ts';
import type { AgentMessage } from '../../core/records/agent-message.ts';

export interface ModelRequest {
  readonly api: 'chat' | 'responses';
  /** Messages of chat completions, or items of the Responses input. */
  readonly items: readonly unknown[];
  /** True if the provider stores earlier turns. The items are then only the new ones. */
  readonly isChained: boolean;
  /** True if the provider may store the items for later requests. */
  readonly startsChain: boolean;
}

export function requestOf(body: unknown): ModelRequest | undefined {
  if (!isJsonObject(body)) return undefined;
  const { messages, input, store } = body;
  if (Array.isArray(messages)) return { api: 'chat', items: messages, isChained: false, startsChain: false };
  const items: unknown = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  if (!Array.isArray(items)) return undefined;
  const isChained = isSet(body['previous_response_id']) || isSet(body['conversation']);
  // A caller that sends the model's own messages keeps the history itself.
  const startsChain = isChained || (store !== false && !items.some(isModels));
  return { api: 'responses', items, isChained, startsChain };
}

export function sentRequest(body: Readonly<Record<string, unknown>>): SentRequest {
  const { model, instructions, messages, input, tools } = body;
  const items: readonly unknown[] = Array.isArray(messages) ? messages : Array.isArray(input) ? input : [input];
  const offeredTools = objectsIn(tools);
  const system = newsOfItems(items, { seen: 0, isChained: true }).messages.filter(({ role }) => role === 'system');
  return {
    modelId: textOrUndefined(model),
    systemPrompt: [textOrUndefined(instructions) ?? [], ...system.map(({ content }) => textOfMessage(content))]
      .flat()
      .join('\n\n'),
    messages: items,
    tools: offeredTools.map(
      ({ type, name, function: functionFields }) =>
        textOrUndefined(isJsonObject(functionFields) ? functionFields['name'] : name) ?? String(type),
    ),
    isClosed: offeredTools.every(({ type }) => type === 'function'),
  };
}

function textOfMessage(content: AgentMessage['content']): string {
  if (typeof content === 'string') return content;
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
