import type { StopRequest } from '../../steering/stop-policy.ts';
import type { ClaudeContextEvent, ClaudeHookAnswer } from './sdk-shapes.ts';

/** The answer of a hook that says `text` to the model, or nothing; with `stop`, of one that stops the agent. */
export function contextAnswer(event: string, text: string | undefined, stop?: StopRequest): ClaudeHookAnswer {
  if (stop !== undefined) return { continue: false, stopReason: `coxswain: ${stop.reason}` };
  if (text === undefined) return {};
  // Text is only given in answer to events that take it.
  return { hookSpecificOutput: { hookEventName: event as ClaudeContextEvent, additionalContext: text } };
}

/** How advice reached the model, as recorded. */
export function channelOf(event: string): string {
  return `${event} additionalContext`;
}
