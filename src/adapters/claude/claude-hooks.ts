import { CoxswainError } from '../../base/error.ts';
import { isJsonObject } from '../../base/json.ts';
import type { AdapterOptions } from '../../host/adapter-options.ts';
import { guarded } from '../../host/guarded.ts';
import type { Run } from '../../run/run.ts';
import { answerHook } from './answer-hook.ts';
import { claudeSessionOf } from './claude-session.ts';
import { readHookInput } from './read-hook-input.ts';
import type { ClaudeHookCallback, ClaudeHookEvent, ClaudeHookMatcher, ClaudeHooks } from './sdk-shapes.ts';

/** How `claudeHooks` is set up. */
export interface ClaudeHookOptions<Theirs extends object = object> extends AdapterOptions {
  /** Hooks of your own: kept as they are, and called with ours. */
  readonly hooks?: Theirs;
  /**
   * Whether advice before the last answer may be said, which makes the agent go on for another turn: at most once a run,
   * and once for each subagent. Default false: such advice is recorded as undelivered.
   */
  readonly forceTurnAtStop?: boolean;
}

const EVENTS: readonly ClaudeHookEvent[] = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'Stop',
  'SubagentStart',
  'SubagentStop',
  'PreCompact',
];

/** A longer text is put into a file, of which the model is shown the beginning. */
const MAX_CHARS = 9_000;

/**
 * The `hooks` option of the Claude Agent SDK: what happens is told to `run`, advice goes to the model. Subagents become
 * runs below it, each with advice of its own. The run stays open: end it with `run.end()`, or let `observed` do it.
 *
 * No hook ever denies, changes or holds up a call; a fault of coxswain is recorded and the SDK gets an empty answer.
 *
 * @param run       of one session; more queries may go on in it
 * @throws CoxswainError "invalid-argument" for `maxChars` outside 1 to 9,000
 */
export function claudeHooks<Theirs extends object = object>(
  run: Run,
  options: ClaudeHookOptions<Theirs> = {},
): ClaudeHooks<Theirs> {
  const { hooks: theirs, maxChars = MAX_CHARS } = options;
  if (!(Number.isInteger(maxChars) && maxChars >= 1 && maxChars <= MAX_CHARS)) {
    throw new CoxswainError('invalid-argument', `maxChars is ${maxChars}; give a whole number from 1 to ${MAX_CHARS}`);
  }
  const callback = hookCallback(run, { ...options, maxChars });
  const merged: Record<string, readonly unknown[]> = { ...theirs };
  for (const event of EVENTS) {
    const ours: ClaudeHookMatcher = { hooks: [callback] };
    merged[event] = [...(merged[event] ?? []), ours];
  }
  // Every event of theirs and of ours, each list their matchers and then ours.
  return merged as ClaudeHooks<Theirs>;
}

function hookCallback(run: Run, options: ClaudeHookOptions & { readonly maxChars: number }): ClaudeHookCallback {
  const session = claudeSessionOf(run);
  session.isHooked = true;
  const guard = guarded(run, options);
  const { maxChars, forceTurnAtStop = false } = options;
  return async (input, toolUseId, hook) => {
    await run.ready();
    return guard(
      'a hook of the Claude Agent SDK',
      () => {
        const read = readHookInput(input, toolUseId);
        if (read === undefined) {
          session.unrecognised('hook', isJsonObject(input) ? input['hook_event_name'] : typeof input, input);
          return {};
        }
        // A version that hands over no signal cannot cancel.
        const isCancelled = (hook as Partial<typeof hook> | undefined)?.signal?.aborted === true;
        return answerHook(read, { session, forceTurnAtStop, maxChars, isCancelled });
      },
      {},
    );
  };
}
