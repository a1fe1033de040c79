import type { HOOK_EVENTS } from './read-hook-input.ts';

export type ClaudeHookEvent = {
  [Event in keyof typeof HOOK_EVENTS]: (typeof HOOK_EVENTS)[Event] extends { readonly inSdk: true } ? Event : never;
}[keyof typeof HOOK_EVENTS];

/** Events whose answer may contain text for the model. */
export type ClaudeContextEvent = Exclude<ClaudeHookEvent, 'PreCompact'>;

/** The answer of a hook: empty, or text for the model. Subset of the SDK's `SyncHookJSONOutput`. */
export interface ClaudeHookAnswer {
  /** Stops the agent. The user sees the reason in `stopReason`. */
  continue?: false;
  stopReason?: string;
  hookSpecificOutput?: {
    [Event in ClaudeContextEvent]: { hookEventName: Event; additionalContext: string };
  }[ClaudeContextEvent];
}

/** A coxswain hook as the SDK calls it. It is a `HookCallback` that accepts input of any shape. */
export type ClaudeHookCallback = (
  input: unknown,
  toolUseId: string | undefined,
  options: { readonly signal: AbortSignal },
) => Promise<ClaudeHookAnswer>;

/** The coxswain hooks for one event. It is the SDK's `HookCallbackMatcher` without a matcher, so it matches all tools. */
export interface ClaudeHookMatcher {
  hooks: ClaudeHookCallback[];
}

/** The SDK's `hooks` option. The user's matchers come first, then those of coxswain. The lists are mutable, as in the SDK's type. */
export type ClaudeHooks<Theirs extends object = object> = {
  [Event in ClaudeHookEvent | keyof Theirs]: (
    | ClaudeHookMatcher
    | (Event extends keyof Theirs ? MatcherOf<Theirs[Event]> : never)
  )[];
};

type MatcherOf<Matchers> = NonNullable<Matchers> extends readonly (infer Matcher)[] ? Matcher : never;
