import { isJsonObject } from '../../base/json.ts';

/** Every event of Claude Code that the hook takes, and whether its settings name tools by a matcher. */
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
 * The events that stay commands where the others go to a server: Claude Code sends no `SessionStart` over http, and a prompt
 * may come when the server has long stopped. They start it again.
 */
const WAKING_EVENTS: ReadonlySet<string> = new Set(['SessionStart', 'UserPromptSubmit']);

/** The last word of every command of ours: by it our entries are told from others. The hook reads no arguments. */
export const HOOK_MARK = 'coxswain-hook';

/** The header of an http hook that says what `COXSWAIN_DISABLE` is in the session's environment. */
export const DISABLE_HEADER = 'x-coxswain-disable';

/** Seconds after which Claude Code goes on without the hook; it takes milliseconds. */
const TIMEOUT_SECONDS = 10;
/** The completion check runs a command, by default for 60 seconds at most. */
const STOP_TIMEOUT_SECONDS = 600;

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

/** Where a server of http hooks is, and what it wants to see. */
export interface HookServerAddress {
  readonly port: number;
  readonly token: string;
}

/**
 * What the settings call: Node and the bundled hook by absolute path, so that nothing is looked up, downloaded or found on a
 * PATH that is another one.
 */
export function hookCommand(node: string, hookFile: string): string {
  return `${shellWord(node)} ${shellWord(hookFile)} ${HOOK_MARK}`;
}

/** The groups of ours, by event: a command for each. */
export function hookGroups(command: string): ReadonlyMap<string, HookGroup> {
  return groupsOf((_event, timeout) => ({ type: 'command', command, timeout }));
}

/**
 * The groups of ours where a server takes the events: requests to it, but for the two events that start it. The token stands in
 * them, because a variable of the environment would be seen by everything that the agent runs.
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
      const timeout = event === 'Stop' || event === 'SubagentStop' ? STOP_TIMEOUT_SECONDS : TIMEOUT_SECONDS;
      const hooks = [entryOf(event, timeout)];
      return [event, tools ? { matcher: '*', hooks } : { hooks }];
    }),
  );
}

/**
 * What tells a hook of ours in the settings from others, of whatever version and place: its command, or the address and headers
 * of its request. Undefined for a hook of somebody else.
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

/** Whether a command in the settings is one of ours, of whatever version and place. */
export function isOurCommand(command: unknown): command is string {
  return typeof command === 'string' && command.trimEnd().endsWith(` ${HOOK_MARK}`);
}

/** Quoted for a POSIX shell, and for cmd.exe where Claude Code runs on Windows. */
function shellWord(path: string): string {
  if (/^[\w@%+=:,./-]+$/.test(path)) return path;
  return path.includes('\\') ? `"${path}"` : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
