import type { ClaudeContextEvent, ClaudeHookAnswer } from './sdk-shapes.ts';

/** The answer of a hook that says `text` to the model, or nothing. */
export function contextAnswer(event: ClaudeContextEvent, text: string | undefined): ClaudeHookAnswer {
  return text === undefined ? {} : { hookSpecificOutput: { hookEventName: event, additionalContext: text } };
}

/** How advice reached the model, as recorded. */
export function channelOf(event: ClaudeContextEvent): string {
  return `${event} additionalContext`;
}
