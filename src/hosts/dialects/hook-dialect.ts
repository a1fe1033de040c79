import type { HostEvent } from '../../host/host-event.ts';

/** The agent programs whose hooks coxswain takes. What they are called, and their folders: `find-sessions.ts`. */
export const HOSTS = ['claude-code', 'codex', 'copilot', 'gemini', 'opencode', 'pi'] as const;

/** One of `HOSTS`. */
export type HostName = (typeof HOSTS)[number];

/** An event as a host sent it, or in the form that `readPayload` reads. */
export type HookPayload = Readonly<Record<string, unknown>>;

/** What a hook answers, in the form of Claude Code. Empty: nothing. */
export interface HookAnswer {
  /** False: the agent stops now, for the reason in `stopReason`, which the user sees. */
  readonly continue?: false;
  readonly stopReason?: string;
  readonly decision?: 'block';
  readonly reason?: string;
  /** Shown to the user, not to the model. */
  readonly systemMessage?: string;
  readonly hookSpecificOutput?: { readonly hookEventName: string; readonly additionalContext: string };
}

/** How a host differs from Claude Code. One table a host. */
export interface HookDialect {
  readonly host: HostName;
  /** Whether the host sent this event. The payload decides: several programs set the same environment variables. */
  isFrom(json: HookPayload): boolean;
  /** The event in the form of `readPayload`; undefined if the host's event is not one that coxswain listens to. */
  toPayload(json: HookPayload): HookPayload | undefined;
  /** The answer in the form that the host reads. @param json  the event as the host sent it */
  toAnswer(answer: HookAnswer, input: HostEvent, json: HookPayload): object;
}

/** The text that an answer holds for the model when the agent stops, from a completion check or from advice. */
export function stopReason({ reason, hookSpecificOutput }: HookAnswer): string {
  return [reason, hookSpecificOutput?.additionalContext].filter(Boolean).join('\n\n');
}
