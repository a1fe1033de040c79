import { HOOK_EVENTS } from '../../adapters/claude/read-hook-input.ts';
import { isJsonObject } from '../../core/base/json.ts';
import type { SteeringOptions } from '../../core/steering/steering-options.ts';
import { hasBatches } from './claude-version.ts';

/** The last word of every coxswain command in settings. It identifies the hooks of coxswain. The hook itself reads no arguments. */
export const HOOK_MARK = 'coxswain-hook';

const TIMEOUT_SECONDS = 10;
/** Timeout of the stop hook. It includes the completion check, which runs a command for at most 60 seconds by default. */
const STOP_TIMEOUT_SECONDS = 600;
const STOPS: ReadonlySet<string> = new Set(['Stop', 'SubagentStop', 'agentStop', 'AfterAgent']);

export function timeoutOf(event: string): number {
  return STOPS.has(event) ? STOP_TIMEOUT_SECONDS : TIMEOUT_SECONDS;
}

export interface HookEntry {
  readonly type: 'command';
  readonly command: string;
  readonly timeout: number;
  readonly async?: true;
}

/** The command line in the settings. It uses the absolute paths of Node and the bundled hook, so it does not depend on the PATH. */
export function hookCommand(node: string, hookFile: string): string {
  return `${shellWord(node)} ${shellWord(hookFile)} ${HOOK_MARK}`;
}

export interface HookNeeds {
  /** True if Claude Code has `PostToolBatch`. One hook then serves all calls of an answer. */
  readonly hasBatches: boolean;
  /** True if guidance is configured for `pre_tool_execution` only. */
  readonly guidesBeforeCalls: boolean;
}

const DEFAULT_NEEDS: HookNeeds = { hasBatches: true, guidesBeforeCalls: false };

/** Guidance that also has a later decision point needs no hook before calls: Claude Code shows it with the result. */
export function needsOf(
  version: string | undefined,
  { resolved }: { readonly resolved: { readonly steering: Pick<SteeringOptions, 'guidance'> } },
): HookNeeds {
  const guidesBeforeCalls = (resolved.steering.guidance ?? []).some((config) => {
    const points = config.decisionPoints ?? config.provider.decisionPoints ?? [];
    const isLater = points.includes('post_tool_result') || points.includes('pre_tool_selection');
    return points.includes('pre_tool_execution') && !isLater;
  });
  return { hasBatches: hasBatches(version ?? ''), guidesBeforeCalls };
}

export function isCallEvent(event: string): boolean {
  return Object.entries(HOOK_EVENTS).some(([name, row]) => name === event && 'perCall' in row);
}

export function hookGroups(
  command: string,
  { guidesBeforeCalls, hasBatches: hasBatchEvent }: HookNeeds = DEFAULT_NEEDS,
): ReadonlyMap<string, { readonly matcher?: string; readonly hooks: readonly HookEntry[] }> {
  const isNeeded = (event: string): boolean =>
    !hasBatchEvent || !isCallEvent(event) || (event === 'PreToolUse' && guidesBeforeCalls);
  return new Map(
    Object.entries(HOOK_EVENTS)
      .filter(([event]) => isNeeded(event))
      .map(([event, row]) => {
        const hook = { type: 'command', command, timeout: timeoutOf(event) } as const;
        const hooks: readonly HookEntry[] = ['async' in row ? { ...hook, async: true } : hook];
        return [event, 'tools' in row ? { matcher: '*', hooks } : { hooks }];
      }),
  );
}

/** The command of a coxswain hook of any version and installation folder. Undefined for others. */
export function markOf(hook: unknown): string | undefined {
  if (!isJsonObject(hook)) return undefined;
  const { bash, command = bash } = hook;
  return typeof command === 'string' && command.trimEnd().endsWith(` ${HOOK_MARK}`) ? command : undefined;
}

/** Quotes a path for a POSIX shell, or for cmd.exe on Windows. */
function shellWord(path: string): string {
  if (/^[\w@%+=:,./-]+$/.test(path)) return path;
  return path.includes('\\') ? `"${path}"` : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
