import type { StopRequest } from '../../steering/stop-policy.ts';
import type { ClaudeContextEvent, ClaudeHookAnswer } from './sdk-shapes.ts';

/** A hook answer with `text` for the model, or empty; with `stop`, one that stops the agent. */
export function contextAnswer(event: string, text: string | undefined, stop?: StopRequest): ClaudeHookAnswer {
  if (stop !== undefined) return { continue: false, stopReason: `coxswain: ${stop.reason}` };
  if (text === undefined) return {};
  // Text is only set for events that accept it.
  return { hookSpecificOutput: { hookEventName: event as ClaudeContextEvent, additionalContext: text } };
}

/** How advice reached the model, as recorded. */
export function channelOf(event: string): string {
  return `${event} additionalContext`;
}
