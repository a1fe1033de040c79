/** The SDK's hook events that coxswain handles. */
export type ClaudeHookEvent = 'PreCompact' | ClaudeContextEvent;

/** Events whose answer may carry text for the model. */
export type ClaudeContextEvent =
  | 'SessionStart'
  | 'UserPromptSubmit'
  | 'PreToolUse'
  | 'PostToolUse'
  | 'PostToolUseFailure'
  | 'PostToolBatch'
  | 'Stop'
  | 'SubagentStart'
  | 'SubagentStop';

/** A hook's answer: empty, or text for the model. Part of the SDK's `SyncHookJSONOutput`. */
export interface ClaudeHookAnswer {
  /** Stops the agent, for the reason in `stopReason`, which the user sees. */
  continue?: false;
  stopReason?: string;
  hookSpecificOutput?: {
    [Event in ClaudeContextEvent]: { hookEventName: Event; additionalContext: string };
  }[ClaudeContextEvent];
}

/** One of our hooks as the SDK calls it: `HookCallback` with an input of any shape. */
export type ClaudeHookCallback = (
  input: unknown,
  toolUseId: string | undefined,
  options: { readonly signal: AbortSignal },
) => Promise<ClaudeHookAnswer>;

/** Our hooks for one event: the SDK's `HookCallbackMatcher` without a matcher, which matches all tools. */
export interface ClaudeHookMatcher {
  hooks: ClaudeHookCallback[];
}

/** The SDK's `hooks` option: the user's matchers first, then ours. Lists are mutable, as in the SDK's type. */
export type ClaudeHooks<Theirs extends object = object> = {
  [Event in ClaudeHookEvent | keyof Theirs]: (
    | ClaudeHookMatcher
    | (Event extends keyof Theirs ? MatcherOf<Theirs[Event]> : never)
  )[];
};

type MatcherOf<Matchers> = NonNullable<Matchers> extends readonly (infer Matcher)[] ? Matcher : never;
