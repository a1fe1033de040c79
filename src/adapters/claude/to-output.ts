import type { ClaudeContextEvent, ClaudeHookAnswer } from './sdk-shapes.ts';

/** The answer of a hook that says `text` to the model, or nothing. */
export function contextAnswer(event: string, text: string | undefined): ClaudeHookAnswer {
  if (text === undefined) return {};
  // Text is only given in answer to events that take it.
  return { hookSpecificOutput: { hookEventName: event as ClaudeContextEvent, additionalContext: text } };
}

/** How advice reached the model, as recorded. */
export function channelOf(event: string): string {
  return `${event} additionalContext`;
}
