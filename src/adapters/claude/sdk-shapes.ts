/** The SDK's hook events that coxswain listens to. */
export type ClaudeHookEvent = 'PreCompact' | ClaudeContextEvent;

/** Those among them whose answer may carry text for the model. */
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

/** What a hook answers: nothing, or text for the model. Part of the SDK's `SyncHookJSONOutput`. */
export interface ClaudeHookAnswer {
  /** The agent stops now, for the reason in `stopReason`, which the user sees. */
  continue?: false;
  stopReason?: string;
  hookSpecificOutput?: {
    [Event in ClaudeContextEvent]: { hookEventName: Event; additionalContext: string };
  }[ClaudeContextEvent];
}

/** A hook of ours, as the SDK calls it: `HookCallback` with an input of any shape. */
export type ClaudeHookCallback = (
  input: unknown,
  toolUseId: string | undefined,
  options: { readonly signal: AbortSignal },
) => Promise<ClaudeHookAnswer>;

/** Hooks of ours for one event: the SDK's `HookCallbackMatcher` without a matcher, so that all tools are meant. */
export interface ClaudeHookMatcher {
  hooks: ClaudeHookCallback[];
}

/** The SDK's `hooks` option: the user's own matchers first, then ours. Lists may be changed, as the SDK's type says. */
export type ClaudeHooks<Theirs extends object = object> = {
  [Event in ClaudeHookEvent | keyof Theirs]: (
    | ClaudeHookMatcher
    | (Event extends keyof Theirs ? MatcherOf<Theirs[Event]> : never)
  )[];
};

type MatcherOf<Matchers> = NonNullable<Matchers> extends readonly (infer Matcher)[] ? Matcher : never;
