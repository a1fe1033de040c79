import type { StopRequest } from '../../core/steering/stop-policy.ts';
import type { ClaudeContextEvent, ClaudeHookAnswer } from './sdk-shapes.ts';

/** Creates a hook answer. It contains `text` for the model, or is empty. With `stop`, it stops the agent. */
export function contextAnswer(event: string, text: string | undefined, stop?: StopRequest): ClaudeHookAnswer {
  if (stop !== undefined) return { continue: false, stopReason: `coxswain: ${stop.reason}` };
  if (text === undefined) return {};
  // The caller sets text only for events that accept text.
  return { hookSpecificOutput: { hookEventName: event as ClaudeContextEvent, additionalContext: text } };
}

export function channelOf(event: string): string {
  return `${event} additionalContext`;
}
