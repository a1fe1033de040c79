import { isJsonObject } from '../../base/json.ts';

/** The events of Claude Code with a hook, and whether they need a matcher for tools. */
const EVENTS: readonly (readonly [string, { readonly tools: boolean }])[] = [
  ['SessionStart', { tools: false }],
  ['UserPromptSubmit', { tools: false }],
  ['PreToolUse', { tools: true }],
  ['PostToolUse', { tools: true }],
  ['PostToolUseFailure', { tools: true }],
  ['PostToolBatch', { tools: false }],
  ['SubagentStart', { tools: false }],
  ['SubagentStop', { tools: false }],
  ['PreCompact', { tools: false }],
  ['Stop', { tools: false }],
  ['StopFailure', { tools: false }],
  ['PermissionRequest', { tools: true }],
  ['PermissionDenied', { tools: true }],
  ['Notification', { tools: false }],
  ['SessionEnd', { tools: false }],
];

/**
 * Events that stay commands with a server, and start it: Claude Code sends no `SessionStart` over http, and the server may have
 * stopped before a prompt.
 */
const WAKING_EVENTS: ReadonlySet<string> = new Set(['SessionStart', 'UserPromptSubmit']);

/** The last word of each of our commands, which identifies our entries. The hook reads no arguments. */
export const HOOK_MARK = 'coxswain-hook';

/** The header of an http hook with `COXSWAIN_DISABLE` of the session's environment. */
export const DISABLE_HEADER = 'x-coxswain-disable';

const TIMEOUT_SECONDS = 10;
/** The completion check runs a command, by default for 60 seconds at most. */
const STOP_TIMEOUT_SECONDS = 600;
const STOPS: ReadonlySet<string> = new Set(['Stop', 'SubagentStop', 'agentStop', 'AfterAgent']);

/** Time limit of the hook for an event of any host, in seconds. */
export function timeoutOf(event: string): number {
  return STOPS.has(event) ? STOP_TIMEOUT_SECONDS : TIMEOUT_SECONDS;
}

/** A group of hooks in the settings, as Claude Code writes them. */
export interface HookGroup {
  readonly matcher?: string;
  readonly hooks: readonly HookEntry[];
}

/** One hook: a command, or a request to a server. */
export type HookEntry =
  | { readonly type: 'command'; readonly command: string; readonly timeout: number }
  | {
      readonly type: 'http';
      readonly url: string;
      readonly timeout: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly allowedEnvVars: readonly string[];
    };

/** Port and token of a server of http hooks. */
export interface HookServerAddress {
  readonly port: number;
  readonly token: string;
}

/**
 * The command in the settings: absolute paths of Node and the bundled hook, independent of the PATH.
 */
export function hookCommand(node: string, hookFile: string): string {
  return `${shellWord(node)} ${shellWord(hookFile)} ${HOOK_MARK}`;
}

/** Our groups by event, with commands. */
export function hookGroups(command: string): ReadonlyMap<string, HookGroup> {
  return groupsOf((_event, timeout) => ({ type: 'command', command, timeout }));
}

/**
 * Our groups by event, with requests to the server except for the two events that start it. They contain the token, because every
 * program that the agent runs would see an environment variable.
 */
export function httpHookGroups(command: string, { port, token }: HookServerAddress): ReadonlyMap<string, HookGroup> {
  return groupsOf((event, timeout) => {
    if (WAKING_EVENTS.has(event)) return { type: 'command', command, timeout };
    return {
      type: 'http',
      url: `http://127.0.0.1:${port}/${HOOK_MARK}`,
      timeout,
      headers: { Authorization: `Bearer ${token}`, [DISABLE_HEADER]: '$COXSWAIN_DISABLE' },
      allowedEnvVars: ['COXSWAIN_DISABLE'],
    };
  });
}

function groupsOf(entryOf: (event: string, timeout: number) => HookEntry): ReadonlyMap<string, HookGroup> {
  return new Map(
    EVENTS.map(([event, { tools }]) => {
      const hooks = [entryOf(event, timeoutOf(event))];
      return [event, tools ? { matcher: '*', hooks } : { hooks }];
    }),
  );
}

/**
 * The mark of our hook in settings, of any version and place: its command, or the address and headers of its request. Undefined
 * for a foreign hook.
 */
export function markOf(hook: unknown): string | undefined {
  if (!isJsonObject(hook)) return undefined;
  const { bash, type, command = bash, url, headers } = hook;
  if (type === 'http') {
    const isOurs = typeof url === 'string' && URL.parse(url)?.pathname === `/${HOOK_MARK}`;
    return isOurs ? `${url} ${JSON.stringify(headers)}` : undefined;
  }
  return isOurCommand(command) ? command : undefined;
}

/** Returns true for a command of our hook, of any version and place. */
export function isOurCommand(command: unknown): command is string {
  return typeof command === 'string' && command.trimEnd().endsWith(` ${HOOK_MARK}`);
}

/** Quoted for a POSIX shell, or for cmd.exe on Windows. */
function shellWord(path: string): string {
  if (/^[\w@%+=:,./-]+$/.test(path)) return path;
  return path.includes('\\') ? `"${path}"` : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
