import { checkAdapter, type AdapterOptions } from '../host/adapter-options.ts';
import { guarded, type Guard } from '../host/guarded.ts';
import type { Run } from '../../core/run/run.ts';
import { claudeSessionOf, type ClaudeSession } from './claude-session.ts';
import { resultOfError, type QueryResult } from './read-result.ts';
import { present, isJsonObject } from '../../core/base/json.ts';
import { plainContent } from '../host/content-blocks.ts';
import { readMessage, type SessionMessage } from './read-message.ts';

export type ObserveOptions = Pick<AdapterOptions, 'onError'>;

/**
 * Passes the messages of a query through one by one, unchanged. Reports to `run` what hooks cannot report: answers, model,
 * usage, cost, and how the query ended. With `claudeHooks`, each event is recorded once. Without them, everything is recorded
 * and no advice is given.
 *
 * The run ends with the messages. Its outcome is `ended`, `limit` (turns or budget), `error`, or `aborted`, also if the caller
 * leaves the loop early. A later `run.end()` only waits for the store.
 *
 * @param messages  the result of `query()`; keep it if you need its methods
 * @throws the errors of `messages`, unchanged
 */
export function observed<Message>(
  run: Run,
  messages: AsyncIterable<Message>,
  options: ObserveOptions = {},
): AsyncGenerator<Message, void> {
  checkAdapter('observed', run, options, {});
  const session = claudeSessionOf(run);
  // Set the flag before the first hook, which may precede the first message.
  session.isObserved = true;
  session.result = undefined;
  return passOn(session, messages, guarded(run, options));
}

/** The result if the caller left the loop early and no result message arrived. */
const LEFT: QueryResult = { outcome: 'aborted', labels: {} };
/** The result if the stream ended without a result message. */
const OVER: QueryResult = { outcome: 'ended', labels: {} };

async function* passOn<Message>(
  session: ClaudeSession,
  messages: AsyncIterable<Message>,
  guard: Guard,
): AsyncGenerator<Message, void> {
  let end = LEFT;
  try {
    for await (const message of messages) {
      guard('a message of the Claude Agent SDK', () => observeMessage(session, message));
      yield message;
    }
    end = session.result ?? OVER;
  } catch (error) {
    end = resultOfError(error, session.result);
    throw error;
  } finally {
    session.isObserved = false;
    // A caller that leaves the loop at the result message has received the complete query.
    const last = end === LEFT ? (session.result ?? LEFT) : end;
    guard('the end of a query', () => session.end(last));
  }
}

export function observeMessage(session: ClaudeSession, message: unknown): void {
  const sessionMessage = readMessage(message);
  if (sessionMessage !== undefined) addMessage(session, sessionMessage);
  else session.unrecognised('message', isJsonObject(message) ? message['type'] : typeof message, message);
}

function addMessage(session: ClaudeSession, message: SessionMessage): void {
  switch (message.kind) {
    case 'init': {
      const { sessionId, modelId } = message;
      session.identify(present({ conversationId: sessionId, modelId }));
      return;
    }
    case 'agent':
      session.startedBy(message.callId, message.agentId);
      return;
    case 'answer':
      session.threadAt(message.place).hear(message.part, !session.isHooked);
      return;
    case 'finished':
      session.knownThreadAt(message.place)?.finish(message.messageId, message);
      return;
    case 'delta':
      session.knownThreadAt(message.place)?.emit({ type: 'message_update', delta: message.text });
      return;
    case 'user':
      hearUser(session, message);
      return;
    case 'denied':
      session.knownThreadAt(message.place)?.deny(message.callId);
      return;
    case 'compacted':
      session.compacted(message.trigger, 'message');
      return;
    case 'limit':
      session.limitUsed(message.limit);
      return;
    case 'result':
      session.result = message.result;
      session.root.tellAnswer(true);
      return;
    case 'other':
      return;
    default:
      message satisfies never;
  }
}

function hearUser(session: ClaudeSession, message: Extract<SessionMessage, { readonly kind: 'user' }>): void {
  const thread = session.threadAt(message.place);
  for (const result of message.results) thread.show(result, !session.isHooked);
  // The prompt was already reported when it was submitted.
  if (message.blocks.length === 0 || message.isReplay) return;
  thread.tellAnswer(false);
  // Text that the SDK adds is not a user message and does not start a task.
  const role = message.isSynthetic ? 'system' : 'user';
  thread.emit({ type: 'message_end', message: { role, content: plainContent(message.blocks) } });
}
