import { present } from '../../core/base/present.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { plainContent } from '../host/content-blocks.ts';
import type { ClaudeSession } from './claude-session.ts';
import { readMessage, type SessionMessage } from './read-message.ts';

/** Handles a message of the SDK's stream. The message may have any shape. */
export function observeMessage(session: ClaudeSession, message: unknown): void {
  const sessionMessage = readMessage(message);
  if (sessionMessage !== undefined) addMessage(session, sessionMessage);
  else session.unrecognised('message', isJsonObject(message) ? message['type'] : typeof message, message);
}

function addMessage(session: ClaudeSession, message: SessionMessage): void {
  switch (message.kind) {
    case 'init': {
      const { sessionId, modelId } = message;
      session.identify({
        ...present({ conversationId: sessionId, modelId }),
      });
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
