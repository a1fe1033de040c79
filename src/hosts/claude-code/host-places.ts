import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { hostFolder } from '../../formats/find-sessions.ts';
import { codexDialect } from '../dialects/codex-dialect.ts';
import { copilotDialect } from '../dialects/copilot-dialect.ts';
import { geminiDialect } from '../dialects/gemini-dialect.ts';
import { qwenDialect } from '../dialects/qwen-dialect.ts';
import { HOSTS, type HookDialect, type HostName } from '../dialects/hook-dialect.ts';
import { invalidArgument } from '../../core/base/error.ts';
import { addHooks, ignoredSettings } from './edit-settings.ts';
import { hookCommand, HOOK_MARK, hookGroups, timeoutOf, type HookNeeds } from './init-hooks.ts';

export interface HostScope {
  /** Absent for the user's settings, which apply to all projects. */
  readonly projectFolder?: string | undefined;
  readonly homeFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface HookProgram {
  readonly node: string;
  readonly hookFile: string;
}

export interface HostPlace {
  settingsFile(scope: HostScope): string;
  /** @throws CoxswainError `invalid-argument` for text that cannot be edited */
  edit(before: string, program: HookProgram, needs?: HookNeeds): string;
}

/** Codex limits hooks at the end of a session to this time. It prints a warning at each start if a hook has a longer timeout. */
const CODEX_END_SECONDS = 3;

const OF_TOOLS = /Tool/;

export const HOST_PLACES: Readonly<Record<HostName, HostPlace>> = {
  'claude-code': {
    settingsFile: settingsAt('claude-code', '.claude/settings.json', 'settings.json'),
    edit(before, { node, hookFile }, needs) {
      const command = hookCommand(node, hookFile);
      const problem = ignoredSettings(before);
      if (problem !== undefined) throw invalidArgument(problem);
      return addHooks(before, hookGroups(command, needs));
    },
  },
  codex: {
    settingsFile: settingsAt('codex', '.codex/hooks.json', 'hooks.json'),
    edit: (before, program) =>
      addGroups(before, codexDialect, (event) =>
        hookOf(event, program, event === 'SessionEnd' ? CODEX_END_SECONDS : undefined),
      ),
  },
  copilot: {
    settingsFile: settingsAt('copilot', '.github/hooks/coxswain.json', 'hooks/coxswain.json'),
    edit(before, { node, hookFile }) {
      // Copilot CLI refuses a call whose hook fails, for example after an update of Node to another folder.
      const bash = `${hookCommand(node, hookFile)} || : ${HOOK_MARK}`;
      const entry = (event: string): readonly [string, object] => [
        event,
        { type: 'command', bash, timeoutSec: timeoutOf(event) },
      ];
      return addHooks(
        before.trim() === '' ? '{\n  "version": 1\n}\n' : before,
        new Map(copilotDialect.events.map(entry)),
      );
    },
  },
  gemini: {
    settingsFile: settingsAt('gemini', '.gemini/settings.json', 'settings.json'),
    edit: (before, program) =>
      addGroups(before, geminiDialect, (event) => ({
        ...hookOf(event, program, timeoutOf(event) * 1_000),
        name: 'coxswain',
      })),
  },
  opencode: {
    settingsFile: settingsAt('opencode', '.opencode/plugin/coxswain.js', 'plugin/coxswain.js'),
    edit: (_before, program) => pluginText('export const Coxswain = async (host) =>', 'opencodePlugin', program),
  },
  pi: {
    settingsFile: settingsAt('pi', '.pi/extensions/coxswain.ts', 'extensions/coxswain.ts'),
    edit: (_before, program) => pluginText('export default async (host: unknown) =>', 'piExtension', program),
  },
  'qwen-code': {
    settingsFile: settingsAt('qwen-code', '.qwen/settings.json', 'settings.json'),
    edit: (before, program) => addGroups(before, qwenDialect, (event) => hookOf(event, program)),
  },
};

/** @param inProject  path in the folder of a project; `ofUser`: in the user's folder of the program */
function settingsAt(host: HostName, inProject: string, ofUser: string): HostPlace['settingsFile'] {
  return ({ env, homeFolder, projectFolder }) => {
    if (projectFolder !== undefined) return join(projectFolder, inProject);
    // The sessions of these are in another folder.
    if (host === 'opencode') return join(env['XDG_CONFIG_HOME'] || join(homeFolder, '.config'), 'opencode', ofUser);
    if (host === 'qwen-code') return join(env['QWEN_HOME'] || join(homeFolder, '.qwen'), ofUser);
    return join(own(host, { env, homeFolder }), ofUser);
  };
}

/** The hosts that this user has installed, detected by their folders. */
export function installedHosts(scope: Omit<HostScope, 'projectFolder'>): readonly HostName[] {
  return HOSTS.filter((host) => existsSync(own(host, scope)));
}

function addGroups(before: string, { events }: HookDialect, hook: (event: string) => object): string {
  const groupOf = (event: string): object => ({
    ...(OF_TOOLS.test(event) ? { matcher: '*' } : {}),
    hooks: [hook(event)],
  });
  return addHooks(before, new Map(events.map((event) => [event, groupOf(event)])));
}

function hookOf(event: string, { node, hookFile }: HookProgram, timeout: number = timeoutOf(event)): object {
  return { type: 'command', command: hookCommand(node, hookFile), timeout };
}

/** Source text of a file that loads the plugin from this installation. If loading fails, the file does nothing. */
function pluginText(head: string, name: 'opencodePlugin' | 'piExtension', { node, hookFile }: HookProgram): string {
  const file = name === 'opencodePlugin' ? 'opencode-plugin.js' : 'pi-extension.js';
  const module = JSON.stringify(join(dirname(hookFile), 'hosts', 'plugins', file));
  return [
    `// ${HOOK_MARK}: written by coxswain init, removed by coxswain init --undo.`,
    head,
    `  import(${module})`,
    `    .then((plugin) => plugin.${name}(host, ${JSON.stringify({ node, hook: hookFile })}))`,
    '    .catch(() => ({}));',
    '',
  ].join('\n');
}

function own(host: HostName, { env, homeFolder: home }: Omit<HostScope, 'projectFolder'>): string {
  return hostFolder(host, { env, home });
}
