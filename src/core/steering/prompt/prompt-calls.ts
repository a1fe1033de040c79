import { invalidArgument } from '../../base/error.ts';
import type { Session } from '../../session/session.ts';
import { ToolCallCount, toolCallCount, ToolInvoked } from '../../session/tool-invoked.ts';

/** The prompt name of a call without a prompt. Such a call counts under every prompt. */
const NO_PROMPT = '';

/** Returns the exact number of tool calls of a prompt. Cost: O(prompts used). */
export function promptCallCount(session: Session, promptName: string): number {
  const counts = session.slice(ToolCallCount);
  const ownCount = toolCallCount(counts, promptName);
  return promptName === NO_PROMPT ? ownCount : ownCount + toolCallCount(counts, NO_PROMPT);
}

/**
 * Returns the newest `count` tool calls of a prompt, oldest first.
 *
 * @throws CoxswainError "invalid-argument" if `count` is not a whole number from 0 to `ToolInvoked.retain`
 *
 * Cost: O(count); O(retained) if other prompts have calls among them.
 */
export function promptCalls(session: Session, promptName: string, count: number): readonly ToolInvoked[] {
  if (!Number.isInteger(count) || count < 0 || count > ToolInvoked.retain) {
    throw invalidArgument(
      `a window of tool calls is a whole number from 0 to ${ToolInvoked.retain} (calls retained), got ${count}`,
      { details: { count, retain: ToolInvoked.retain } },
    );
  }
  if (count === 0) return [];
  const isInPrompt = (call: ToolInvoked): boolean => call.promptName === promptName || call.promptName === NO_PROMPT;
  const view = session.slice(ToolInvoked);
  const newest = view.last(count);
  return newest.every(isInPrompt) ? newest : view.all().filter(isInPrompt).slice(-count);
}
