import { invalidArgument } from '../../core/base/error.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { checkAdapter, type AdapterOptions } from '../host/adapter-options.ts';
import { guarded } from '../host/guarded.ts';
import { reportUnseen } from '../host/report-unseen.ts';
import type { Run } from '../../core/run/run.ts';
import { MAX_ADVICE_CHARS } from '../../core/steering/advice/join-advice.ts';
import { answerHook } from './answer-hook.ts';
import { claudeSessionOf } from './claude-session.ts';
import { HOOK_EVENTS, readHookInput } from './read-hook-input.ts';
import type { ClaudeHookCallback, ClaudeHookMatcher, ClaudeHooks } from './sdk-shapes.ts';

/** Options of `claudeHooks`. */
export interface ClaudeHookOptions<Theirs extends object = object> extends AdapterOptions {
  /** Your own hooks. They are kept and called together with the coxswain hooks. */
  readonly hooks?: Theirs;
  /**
   * Allows advice before the last answer. Such advice forces another turn, at most once per run and once per subagent. Default
   * false: such advice is recorded as undelivered.
   */
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
