import { isJsonObject } from '../../base/json.ts';
import type { AgentMessage } from '../../records/agent-message.ts';
import { contentBlocks, plainContent, resultOf } from '../../host/content-blocks.ts';
import type { RequestNews } from '../../host/conversation.ts';
import { unseenItems } from '../../host/unseen-items.ts';

/** The body of a request, as far as it is read. */
export interface ModelRequest {
  readonly api: 'chat' | 'responses';
  /** Messages, or items of the input. */
  readonly items: readonly unknown[];
  /** Earlier turns lie with the provider: the items are new ones only. */
  readonly isChained: boolean;
  /** What the items say may stay with the provider, for later requests to build on. */
  readonly startsChain: boolean;
}

/** A request to chat completions or Responses; undefined for anything else. */
export function requestOf(body: unknown): ModelRequest | undefined {
  if (!isJsonObject(body)) return undefined;
  const { messages, input, store } = body;
  if (Array.isArray(messages)) return { api: 'chat', items: messages, isChained: false, startsChain: false };
  const items: unknown = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  if (!Array.isArray(items)) return undefined;
  const isChained = isSet(body['previous_response_id']) || isSet(body['conversation']);
  // Who sends the model's own words along keeps the history himself.
  const startsChain = isChained || (store !== false && !items.some(isModels));
  return { api: 'responses', items, isChained, startsChain };
}

/** What a request shows that the last one of its conversation, which had `seen` items, did not. */
export function newsOf(request: ModelRequest, seen: number): RequestNews {
  const messages: AgentMessage[] = [];
  const results: { readonly id: string; readonly result: unknown }[] = [];
  const items = request.isChained ? request.items : unseenItems(request.items, seen, isModels);
  for (const item of items) {
    if (!isJsonObject(item)) continue;
    const role = ROLES.get(item['role']);
    if (role !== undefined) {
      messages.push({ role, content: plainContent(contentBlocks(item['content'])) });
    } else if (isToolOutput(item)) {
      const id = item['tool_call_id'] ?? item['call_id'];
      if (typeof id === 'string') results.push({ id, result: resultOf(item['content'] ?? item['output']) });
    }
  }
  return { messages, results };
}

const ROLES: ReadonlyMap<unknown, 'system' | 'user'> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
]);

/** True for what a model said or did, as a history holds it. */
function isModels(item: unknown): boolean {
  if (!isJsonObject(item)) return false;
  const { role, type } = item;
  if (typeof role === 'string') return role === 'assistant';
  return typeof type === 'string' && !isToolOutput(item) && type !== 'message';
}

function isToolOutput({ role, type }: Readonly<Record<string, unknown>>): boolean {
  return role === 'tool' || (typeof type === 'string' && type.endsWith('_output'));
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
