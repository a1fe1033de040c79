import { invalidArgument } from '../../core/base/error.ts';
import { isJsonObject, present } from '../../core/base/json.ts';
import { checkAdapter, type AdapterOptions } from '../host/adapter-options.ts';
import { guarded } from '../host/guarded.ts';
import { reportUnseen } from '../host/report-unseen.ts';
import type { Run } from '../../core/run/run.ts';
import { MAX_ADVICE_CHARS } from '../../core/steering/advice/advice.ts';
import { claudeSessionOf, type ClaudeSession } from './claude-session.ts';
import { HOOK_EVENTS, readHookInput } from './read-hook-input.ts';
import type { ClaudeHookCallback, ClaudeHookMatcher, ClaudeHooks, ClaudeHookAnswer } from './sdk-shapes.ts';
import { interpretEvent, stopAt, settleAll, type HostThread } from '../host/interpret-event.ts';
import type { HostEvent } from '../host/host-event.ts';
import type { ClaudeThread } from './claude-thread.ts';
import { channelOf, contextAnswer } from './to-output.ts';

export interface ClaudeHookOptions<Theirs extends object = object> extends AdapterOptions {
  /** Your own hooks. They are kept and called together with the coxswain hooks. */
  readonly hooks?: Theirs;
  /** Allows advice before the last answer, which forces another turn, once per run and subagent. Default false: it is undelivered. */
  readonly forceTurnAtStop?: boolean;
}

/**
 * Returns the `hooks` option of the Claude Agent SDK. The hooks report events to `run` and give its advice to the model.
 * Subagents become child runs with their own advice. The run stays open: end it with `run.end()`, or let `observed` end it.
 *
 * No hook ever denies, changes or delays a call. An internal error of coxswain is recorded, and the SDK gets an empty answer.
 *
 * @param run       run of one session, which may have several queries
 * @throws CoxswainError "invalid-argument" for `maxChars` outside 1 to `MAX_ADVICE_CHARS`
 */
export function claudeHooks<Theirs extends object = object>(
  run: Run,
  options: ClaudeHookOptions<Theirs> = {},
): ClaudeHooks<Theirs> {
  checkAdapter('claudeHooks', run, options, { hooks: true, forceTurnAtStop: true });
  const { hooks: theirs, maxChars = MAX_ADVICE_CHARS } = options;
  // The SDK writes longer texts to a file and shows the model only the beginning.
  if (!(Number.isInteger(maxChars) && maxChars >= 1 && maxChars <= MAX_ADVICE_CHARS)) {
    throw invalidArgument(`maxChars is ${maxChars}; give a whole number from 1 to ${MAX_ADVICE_CHARS}`);
  }
  const callback = hookCallback(run, { ...options, maxChars });
  const merged: Record<string, readonly unknown[]> = { ...theirs };
  for (const [event, row] of Object.entries(HOOK_EVENTS)) {
    if (!('inSdk' in row)) continue;
    const ours: ClaudeHookMatcher = { hooks: [callback] };
    merged[event] = [...(merged[event] ?? []), ours];
  }
  // Contains every event of the user's hooks and of the coxswain hooks. The user's matchers come first in each list.
  return merged as ClaudeHooks<Theirs>;
}

function hookCallback(run: Run, options: ClaudeHookOptions & { readonly maxChars: number }): ClaudeHookCallback {
  const session = claudeSessionOf(run);
  session.isHooked = true;
  const guard = guarded(run, options);
  const { maxChars, forceTurnAtStop = false } = options;
  let hasFired = false;
  const message = 'no hook has fired: pass the hooks to query({ prompt, options: { hooks } })';
  reportUnseen(run, 'claude-agent-sdk', { message, isSeen: () => hasFired });
  return async (input, toolUseId, hook) => {
    hasFired = true;
    await run.ready();
    return guard(
      'a hook of the Claude Agent SDK',
      () => {
        const hookInput = readHookInput(input, toolUseId);
        if (hookInput === undefined) {
          session.unrecognised('hook', isJsonObject(input) ? input['hook_event_name'] : typeof input, input);
          return {};
        }
        // Versions of the SDK without an abort signal cannot cancel a hook.
        const isCancelled = (hook as Partial<typeof hook> | undefined)?.signal?.aborted === true;
        return answerHook(hookInput, { session, forceTurnAtStop, maxChars, isCancelled });
      },
      {},
    );
  };
}

/** Additional data about a hook call. */
interface HookContext {
  readonly session: ClaudeSession;
  readonly forceTurnAtStop: boolean;
  readonly maxChars: number;
  /** True if the SDK no longer waits for the hook. An answer would then be lost. */
  readonly isCancelled: boolean;
}

function answerHook(event: HostEvent, context: HookContext): ClaudeHookAnswer {
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

/** Undefined for the SDK's internal agents, for example for summaries, which report a stop without a start. */
function threadOf({ kind, agentId, agentType }: HostEvent, session: ClaudeSession): ClaudeThread | undefined {
  if (agentId === undefined) return session.root;
  return kind === 'stopped' ? session.threadOf(agentId) : session.agentThread(agentId, agentType);
}

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
    end: (ending) => thread.end(ending),
    say: (advice, name) => {
      if (!isCancelled) return thread.say(advice, channelOf(name), maxChars);
      settleAll(advice, 'the hook was cancelled');
      return undefined;
    },
  };
}
