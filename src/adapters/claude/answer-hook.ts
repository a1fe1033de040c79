import type { AdviceHandle } from '../../run/advice-handle.ts';
import type { DecisionPoint } from '../../records/guidance.ts';
import type { AdviseContext } from '../../run/evaluation-payload.ts';
import type { ClaudeSession } from './claude-session.ts';
import type { ClaudeThread } from './claude-thread.ts';
import type { HookInput } from './read-hook-input.ts';
import type { ClaudeContextEvent, ClaudeHookAnswer } from './sdk-shapes.ts';
import { callEnded, promptEvent } from './to-events.ts';
import { channelOf, contextAnswer } from './to-output.ts';

/** What a hook call goes by besides its input. */
export interface HookContext {
  readonly session: ClaudeSession;
  readonly forceTurnAtStop: boolean;
  readonly maxChars: number;
  /** The SDK waits no more: what is said now is lost. */
  readonly isCancelled: boolean;
}

/** Tells the run what a hook says, and answers with the advice that comes of it. */
export function answerHook(input: HookInput, context: HookContext): ClaudeHookAnswer {
  const { session } = context;
  if (input.sessionId !== undefined) session.identify({ conversationId: input.sessionId });
  switch (input.event) {
    case 'SessionStart':
      if (input.modelId !== undefined) session.identify({ modelId: input.modelId });
      return {};
    case 'PreCompact':
      session.compacted(input.trigger, 'hook');
      return {};
    case 'SessionEnd':
      return {};
    case 'UserPromptSubmit': {
      const { root } = session;
      root.resume('prompt');
      root.pause();
      root.emit(promptEvent(input.prompt, input.source));
      return say({ event: input.event, thread: root, advice: atStart(root, context) }, context);
    }
    case 'SubagentStart': {
      const thread = session.agentThread(input.agentId, input.agentType);
      thread.resume('subagent');
      return say({ event: input.event, thread, advice: atStart(thread, context) }, context);
    }
    case 'Stop':
    case 'SubagentStop':
      return answerStop(input, context);
    default:
      return answerCall(input, context);
  }
}

type StopInput = Extract<HookInput, { readonly event: 'Stop' | 'SubagentStop' }>;

function answerStop(input: StopInput, context: HookContext): ClaudeHookAnswer {
  const { session, forceTurnAtStop } = context;
  const thread = session.threadOf(input.event === 'Stop' ? undefined : input.agentId);
  // The SDK has agents of its own, as for a summary: they stop without having started.
  if (thread === undefined) return {};
  const text = input.lastMessage;
  // Of subagents not every answer comes as a message.
  thread.stop(text, thread === session.root && session.isObserved);
  const advice = ask(thread, 'pre_response', context, text === undefined ? {} : { lastResponse: text });
  const mayForce = forceTurnAtStop && !thread.hasForcedTurn && !input.isForced;
  if (!mayForce) settle(advice, forceTurnAtStop ? 'a turn was forced before' : 'forceTurnAtStop is off');
  const answer = mayForce ? say({ event: input.event, thread, advice }, context) : {};
  if (answer.hookSpecificOutput !== undefined) thread.hasForcedTurn = true;
  else if (thread !== session.root) thread.end(undefined);
  return answer;
}

type CallInput = Extract<
  HookInput,
  { readonly event: 'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure' | 'PostToolBatch' }
>;

function answerCall(input: CallInput, context: HookContext): ClaudeHookAnswer {
  const { agentId, agentType } = input;
  const { session } = context;
  const thread = agentId === undefined ? session.root : session.agentThread(agentId, agentType);
  switch (input.event) {
    case 'PreToolUse': {
      const { id, name, args } = input.call;
      if (agentId !== undefined) thread.resume('subagent');
      thread.expectCall(input.call);
      const pendingToolCalls = [{ toolCallId: id, toolName: name, args }];
      const advice = ask(thread, 'pre_tool_execution', context, { pendingToolCalls });
      thread.startCall(input.call);
      return say({ event: input.event, thread, advice }, context);
    }
    case 'PostToolBatch': {
      const refused = thread.endBatch(input.calls);
      const after = refused.flatMap(() => ask(thread, 'post_tool_result', context));
      const advice = [...after, ...ask(thread, 'pre_tool_selection', context)];
      return say({ event: input.event, thread, advice }, context);
    }
    default: {
      thread.endCall(input.call, callEnded(input));
      const advice = ask(thread, 'post_tool_result', context);
      return say({ event: input.event, thread, advice }, context);
    }
  }
}

/** Before the first request of a prompt or a subagent two points fall together. */
function atStart(thread: ClaudeThread, context: HookContext): readonly AdviceHandle[] {
  return [...ask(thread, 'pre_render', context), ...ask(thread, 'pre_tool_selection', context)];
}

function ask(
  thread: ClaudeThread,
  point: DecisionPoint,
  { session }: HookContext,
  more: AdviseContext = {},
): readonly AdviceHandle[] {
  const { pendingText } = thread;
  return thread.run.advise(point, {
    ...session.known,
    ...(pendingText === undefined ? {} : { lastResponse: pendingText }),
    ...more,
  });
}

/** What a hook that takes text says, and on whose thread. */
interface Saying {
  readonly event: ClaudeContextEvent;
  readonly thread: ClaudeThread;
  readonly advice: readonly AdviceHandle[];
}

function say({ event, thread, advice }: Saying, { isCancelled, maxChars }: HookContext): ClaudeHookAnswer {
  if (isCancelled) settle(advice, 'the hook was cancelled');
  return contextAnswer(event, isCancelled ? undefined : thread.say(advice, channelOf(event), maxChars));
}

function settle(advice: readonly AdviceHandle[], reason: string): void {
  for (const piece of advice) piece.undelivered(reason);
}
