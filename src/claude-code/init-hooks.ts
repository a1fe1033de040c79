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
  ['SessionEnd', { tools: false }],
];

/** The last word of every command of ours: by it our entries are told from others. The hook reads no arguments. */
export const HOOK_MARK = 'coxswain-hook';

/** Seconds after which Claude Code goes on without the hook; it takes milliseconds. */
const TIMEOUT_SECONDS = 10;
/** The completion check runs a command, by default for 60 seconds at most. */
const STOP_TIMEOUT_SECONDS = 600;

/** A group of hooks in the settings, as Claude Code writes them. */
export interface HookGroup {
  readonly matcher?: string;
  readonly hooks: readonly HookEntry[];
}

/** One command hook. */
export interface HookEntry {
  readonly type: 'command';
  readonly command: string;
  readonly timeout: number;
}

/**
 * What the settings call: Node and the bundled hook by absolute path, so that nothing is looked up, downloaded or found on a
 * PATH that is another one.
 */
export function hookCommand(node: string, hookFile: string): string {
  return `${shellWord(node)} ${shellWord(hookFile)} ${HOOK_MARK}`;
}

/** The groups of ours, by event. */
export function hookGroups(command: string): ReadonlyMap<string, HookGroup> {
  return new Map(
    EVENTS.map(([event, { tools }]) => {
      const timeout = event === 'Stop' || event === 'SubagentStop' ? STOP_TIMEOUT_SECONDS : TIMEOUT_SECONDS;
      const hooks: readonly HookEntry[] = [{ type: 'command', command, timeout }];
      return [event, tools ? { matcher: '*', hooks } : { hooks }];
    }),
  );
}

/** Whether a command in the settings is one of ours, of whatever version and place. */
export function isOurCommand(command: unknown): boolean {
  return typeof command === 'string' && command.trimEnd().endsWith(` ${HOOK_MARK}`);
}

/** Quoted for a POSIX shell, and for cmd.exe where Claude Code runs on Windows. */
function shellWord(path: string): string {
  if (/^[\w@%+=:,./-]+$/.test(path)) return path;
  return path.includes('\\') ? `"${path}"` : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
