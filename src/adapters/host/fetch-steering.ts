import { isJsonObject, jsonOf, type JsonMembers } from '../../core/base/json.ts';
import type { AgentMessage } from '../../core/records/agent-message.ts';
import type { Run } from '../../core/run/run.ts';
import type { RefusalOptions } from './adapter-options.ts';
import type { RequestNews, SentRequest } from './conversation.ts';
import { Conversations, type Followed } from './conversations.ts';
import { guarded } from './guarded.ts';
import { reportUnseen } from './report-unseen.ts';
import { RunScope } from './run-scope.ts';
import type { ToolParts } from './run-tool.ts';
import { steeredFetch, unrecognisedEvent, type Fetch, type ModelApi, type SteeredRequest } from './steered-fetch.ts';
import { unseenItems } from './unseen-items.ts';

/** A provider's API whose requests hold the whole conversation. */
export interface ConversationApi extends ModelApi {
  /** Returns the messages of a request. Undefined for any other body. */
  readonly itemsOf: (body: JsonMembers) => readonly unknown[] | undefined;
  /** Returns true if the provider keeps the conversation, so that the items are only the new ones. Default: never. */
  readonly isChained?: (body: JsonMembers) => boolean;
  readonly systemOf: (body: JsonMembers) => string;
  readonly isModels: (item: unknown) => boolean;
  /** Reads what items hold besides answers of the model: messages of the user, and results of calls. */
  readonly newsOf: (items: readonly unknown[]) => RequestNews;
  /** Adds advice to the end of the request, in that request alone. */
  readonly withAdvice: (body: JsonMembers, text: string) => JsonMembers;
  readonly toolsOf: (body: JsonMembers) => Pick<SentRequest, 'tools' | 'isClosed'>;
  readonly modelOf: (body: JsonMembers, url: string) => string | undefined;
}

/** Steering of one agent whose requests pass a `fetch`. */
export interface FetchSteering {
  readonly fetch: (base?: Fetch) => Fetch;
  readonly scope: RunScope;
  /** Dependencies of `runTool`, with the handling of errors. */
  readonly toolParts: (onToolError: ToolParts['onToolError']) => ToolParts;
}

interface LastRequest {
  seen: number;
  system: string;
}

/** The parts of an adapter whose requests hold the whole conversation. `hint`: how to give the client the `fetch`. */
export function fetchSteering(run: Run, api: ConversationApi, options: RefusalOptions, hint: string): FetchSteering {
  const guard = guarded(run, options);
  const scope = new RunScope(() => run);
  const conversations = new Conversations(options, (): LastRequest => ({ seen: 0, system: '' }));
  reportUnseen(run, api.name, {
    message: `no request to a model was seen: ${hint}`,
    isSeen: () => conversations.of(run).conversation.hasAsked || run.analysis.calls > 0,
  });
  const prepare = (bodyText: string, url: string): SteeredRequest | undefined => {
    const body = jsonOf(bodyText);
    const items = isJsonObject(body) ? api.itemsOf(body) : undefined;
    if (!isJsonObject(body) || items === undefined) {
      scope.asking.emit(unrecognisedEvent(api, 'request', body ?? bodyText));
      return undefined;
    }
    const isChained = api.isChained?.(body) === true;
    const firstMessage = items.find((item) => !api.isModels(item));
    const asking = isChained
      ? conversations.of(scope.asking)
      : conversations.asking(scope.asking, firstMessage, () => api.newsOf(items).results.map(({ id }) => id));
    const system = api.systemOf(body);
    const newItems = isChained ? items : unseenItems(items, asking.seen, api.isModels);
    const outgoing = asking.conversation.request(bodyText, newsOfRequest(api, newItems, system, asking));
    asking.seen = isChained ? 0 : items.length;
    asking.system = system;
    const { text } = outgoing;
    const edited = text === undefined ? undefined : api.withAdvice(body, text);
    asking.conversation.sent(outgoing, {
      modelId: api.modelOf(body, url),
      systemPrompt: api.systemOf(edited ?? body),
      messages: api.itemsOf(edited ?? body) ?? items,
      ...api.toolsOf(body),
    });
    return { conversation: asking.conversation, outgoing, edited, channel: 'request' };
  };
  return {
    fetch: (base = globalThis.fetch) => steeredFetch(base, { api, guard, prepare }),
    scope,
    toolParts: (onToolError) => ({
      scope,
      guard,
      conversation: (call) => conversations.calling(scope.calling, call).conversation,
      onToolError,
    }),
  };
}

function newsOfRequest(
  api: ConversationApi,
  items: readonly unknown[],
  system: string,
  last: Followed<LastRequest>,
): RequestNews {
  const { messages, results } = api.newsOf(items);
  const systemMessages: readonly AgentMessage[] =
    system === '' || system === last.system ? [] : [{ role: 'system', content: system }];
  return { messages: [...systemMessages, ...messages], results };
}
