import { present } from '../../core/base/present.ts';
import { interpretEvent, stopAt, settleAll, type HostThread } from '../host/interpret-event.ts';
import type { HostEvent } from '../host/host-event.ts';
import type { ClaudeSession } from './claude-session.ts';
import type { ClaudeThread } from './claude-thread.ts';
import type { ClaudeHookAnswer } from './sdk-shapes.ts';
import { channelOf, contextAnswer } from './to-output.ts';

/** Additional data about a hook call. */
export interface HookContext {
  readonly session: ClaudeSession;
  readonly forceTurnAtStop: boolean;
  readonly maxChars: number;
  /** True if the SDK no longer waits for the hook. An answer would then be lost. */
  readonly isCancelled: boolean;
}

/** Reports the event to the run, and answers the hook with the advice. */
export function answerHook(event: HostEvent, context: HookContext): ClaudeHookAnswer {
  const { session } = context;
  if (event.sessionId !== undefined) session.identify({ conversationId: event.sessionId });
  if (event.kind === 'session_started' && event.modelId !== undefined) session.identify({ modelId: event.modelId });
  // The messages report the end of a query, so the hook does nothing.
  if (event.kind === 'session_ended') return {};
  const thread = threadOf(event, session);
  if (thread === undefined) return {};
  const text = interpretEvent(event, inMemory(thread, context), context);
  return contextAnswer(event.name, text, stopAt(event, thread.run));
}

/**
 * Returns the thread of an event. Undefined for the SDK's internal agents, for example for summaries, which report a stop
 * without a start.
 */
function threadOf({ kind, agentId, agentType }: HostEvent, session: ClaudeSession): ClaudeThread | undefined {
  if (agentId === undefined) return session.root;
  return kind === 'stopped' ? session.threadOf(agentId) : session.agentThread(agentId, agentType);
}

/** Combines a thread in memory with the data of the hook call. */
function inMemory(thread: ClaudeThread, { session, maxChars, isCancelled }: HookContext): HostThread {
  return {
    run: thread.run,
    hasForcedTurn: thread.hasForcedTurn,
    get known() {
      const { pendingText } = thread;
      return { ...session.known, ...present({ lastResponse: pendingText }) };
    },
    beginPrompt: () => thread.pause(),
    compact: (trigger) => session.compacted(trigger, 'hook'),
    expectCall: (call) => thread.expectCall(call),
    startCall: (call) => thread.startCall(call),
    endCall: (call) => thread.endCall(call),
    unreported: (calls) => thread.unreported(calls),
    endBatch: () => thread.endBatch(),
    // Some answers of a subagent do not arrive as messages.
    stop: (text) => thread.stop(text, thread === session.root && session.isObserved),
    forced: () => {
      thread.hasForcedTurn = true;
    },
    end: () => thread.end(undefined),
    say: (advice, name) => {
      if (!isCancelled) return thread.say(advice, channelOf(name), maxChars);
      settleAll(advice, 'the hook was cancelled');
      return undefined;
    },
  };
}
