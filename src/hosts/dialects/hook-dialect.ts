import type { HostEvent } from '../../host/host-event.ts';

/** The supported agent programs. Their titles and folders are in `find-sessions.ts`. */
export const HOSTS = ['claude-code', 'codex', 'copilot', 'gemini', 'opencode', 'pi'] as const;

/** One of `HOSTS`. */
export type HostName = (typeof HOSTS)[number];

/** An event as the host sent it, or in the form that `readPayload` reads. */
export type HookPayload = Readonly<Record<string, unknown>>;

/** The answer of a hook, in the form of Claude Code. Empty: no output. */
export interface HookAnswer {
  /** False: the agent stops now; the user sees `stopReason`. */
  readonly continue?: false;
  readonly stopReason?: string;
  readonly decision?: 'block';
  readonly reason?: string;
  /** Shown to the user, not to the model. */
  readonly systemMessage?: string;
  readonly hookSpecificOutput?: { readonly hookEventName: string; readonly additionalContext: string };
}

/** The differences of a host from Claude Code. */
export interface HookDialect {
  readonly host: HostName;
  /** Returns true if the host sent this event. The payload decides: several programs set the same environment variables. */
  isFrom(json: HookPayload): boolean;
  /** The event in the form of `readPayload`; undefined for an event that coxswain ignores. */
  toPayload(json: HookPayload): HookPayload | undefined;
  /** The answer in the host's form. @param json  the event as the host sent it */
  toAnswer(answer: HookAnswer, input: HostEvent, json: HookPayload): object;
}

/** The text for the model at a stop, from a completion check and from advice. */
export function stopReason({ reason, hookSpecificOutput }: HookAnswer): string {
  return [reason, hookSpecificOutput?.additionalContext].filter(Boolean).join('\n\n');
}
