import type { EndedCall, HostEvent } from '../../adapters/host/host-event.ts';
import type { LineImporter, SessionDatabase } from '../../formats/importer.ts';

/** The supported agent programs. `find-sessions.ts` contains their titles and folders. */
export const HOSTS = ['claude-code', 'codex', 'copilot', 'gemini', 'opencode', 'pi', 'qwen-code'] as const;

export type HostName = (typeof HOSTS)[number];

export type HookPayload = Readonly<Record<string, unknown>>;

/** The answer of a hook, in the format of Claude Code. An empty answer produces no output. */
export interface HookAnswer {
  /** False stops the agent. The user sees `stopReason`. */
  readonly continue?: false;
  readonly stopReason?: string;
  readonly decision?: 'block';
  readonly reason?: string;
  /** Text for the user. The model does not see it. */
  readonly systemMessage?: string;
  readonly hookSpecificOutput?: { readonly hookEventName: string; readonly additionalContext: string };
}

/** How a host differs from Claude Code. */
export interface HookDialect {
  readonly host: HostName;
  /** The host's names of the events for which `init` writes a hook; empty for a plugin, which reports events itself. */
  readonly events: readonly string[];
  /** Reads the file of a session, which completes what the events report. */
  readonly importer: LineImporter | SessionDatabase;
  /** The text of the session file that the hook of a batch needs for a call, if the host writes it while the hook runs. */
  readonly neededText?: (call: EndedCall) => string;
  /** Returns true if the host sent this event. The payload decides, because several programs set the same environment variables. */
  isFrom(json: HookPayload): boolean;
  /** Converts the event to the format of `readPayload`. Undefined for an event that coxswain ignores. */
  toPayload(json: HookPayload): HookPayload | undefined;
  /** @param json  the event as the host sent it */
  toAnswer(answer: HookAnswer, input: HostEvent, json: HookPayload): object;
}

/** The text for the model at a stop. It comes from the completion check and from advice. */
export function stopReason({ reason, hookSpecificOutput }: HookAnswer): string {
  return [reason, hookSpecificOutput?.additionalContext].filter(Boolean).join('\n\n');
}
