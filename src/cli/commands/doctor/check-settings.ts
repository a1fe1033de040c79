import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { HostScope } from '../../../hosts/claude-code/host-places.ts';
import { ownHookFile } from '../../../hosts/claude-code/init-claude-code.ts';
import { hookCommand, hookGroups, isCallEvent, type HookNeeds } from '../../../hosts/claude-code/init-hooks.ts';
import { projectAt } from '../../../core/node/git-folder.ts';
import { countOf } from '../../../core/base/number-text.ts';
import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';
import { messageOf } from '../../../core/base/error.ts';
import { isJsonObject } from '../../../core/base/json.ts';
import { ignoredSettings, ourHooks } from '../../../hosts/claude-code/edit-settings.ts';
import { findFile } from '../../../core/node/guarded-file.ts';

function initFor(layer: FoundSettings['layer'] | undefined): string {
  return `coxswain init claude-code${layer === 'user' ? ' --user' : layer === 'project' ? ' --shared' : ''}`;
}

function commandsIn(settings: readonly FoundSettings[]): readonly string[] {
  return [...new Set(settings.flatMap(({ commands }) => [...commands.values()].flat()))];
}

interface FoundCommand {
  readonly command: string;
  /** True for a command of the user's own settings, or this installation's hook. A mark in project settings is no proof. */
  readonly mayRun: boolean;
}

export function commandsToTry(settings: readonly FoundSettings[]): readonly FoundCommand[] {
  const ownCommands = new Set([
    hookCommand(process.execPath, ownHookFile()),
    ...commandsIn(settings.filter(({ layer }) => layer === 'user')),
  ]);
  return commandsIn(settings).map((command) => ({ command, mayRun: ownCommands.has(command) }));
}

/** @param isHookElsewhere  true if another host has the hook, so Claude Code needs none */
export function checkSettings(
  settings: readonly FoundSettings[],
  { isHookElsewhere, needs }: { readonly isHookElsewhere: boolean; readonly needs: HookNeeds },
): readonly DoctorLine[] {
  const lines = settings.flatMap(fileLine);
  const hookedEvents = new Set(settings.flatMap(({ commands }) => [...commands.keys()]));
  if (isHookElsewhere && hookedEvents.size === 0) return lines;
  return [
    ...lines,
    ...hookLines(settings, hookedEvents, needs),
    ...commandsIn(settings).flatMap((command) => pathLine(command, settings)),
  ];
}

function fileLine(settings: FoundSettings): readonly DoctorLine[] {
  const { commands, file, hooksOff, layer, problem = 'unreadable', state } = settings;
  const check = `settings (${layer})`;
  if (state === 'absent') return [];
  if (state === 'unreadable') {
    return [failed(check, `${file}: ${problem}`, `Fix ${file} in an editor: it must be JSON.`)];
  }
  if (hooksOff) {
    const found = `${file}: disableAllHooks is set, so nothing is recorded`;
    return [failed(check, found, `Delete the line with disableAllHooks in ${file}.`)];
  }
  const hooks = commands.size === 0 ? 'no coxswain hooks' : `coxswain hooks for ${countOf(commands.size, 'event')}`;
  return [passed(check, `${file}: ${hooks}`)];
}

const DAY_MS = 24 * 3_600_000;
/** Without a setting Claude Code deletes files of more than 30 days. */
const OLD_DAYS = 25;

/** @param files  the session files of Claude Code */
export function checkOldSessions(
  settings: readonly FoundSettings[],
  files: readonly { readonly modifiedAtMs: number }[],
  nowMs: number,
): readonly DoctorLine[] {
  if (settings.some(({ saysHowLong }) => saysHowLong)) return [];
  const old = files.filter(({ modifiedAtMs }) => modifiedAtMs < nowMs - OLD_DAYS * DAY_MS).length;
  if (old === 0) return [];
  const found = `${countOf(old, 'session file')} of Claude Code ${old === 1 ? 'is' : 'are'} older than ${OLD_DAYS} days: a start of Claude Code deletes those of more than 30`;
  const user = settings.find(({ layer }) => layer === 'user')?.file ?? '';
  return [unknown('old sessions', found, `Set cleanupPeriodDays in ${user} to keep them longer.`)];
}

function hookLines(
  settings: readonly FoundSettings[],
  hookedEvents: ReadonlySet<string>,
  needs: HookNeeds,
): readonly DoctorLine[] {
  const plugins = [...new Set(settings.flatMap((found) => found.plugins))];
  if (hookedEvents.size === 0) {
    const note = plugins.length > 0 ? `; the plugin ${plugins.join(', ')} is enabled, which is not checked here` : '';
    const found = `no coxswain hook in any settings${note}`;
    return [unknown('hooks', found, `Run ${initFor(undefined)}, unless the hooks come from a plugin.`)];
  }
  const neededEvents = hookGroups('', needs);
  const missingEvents = [...neededEvents.keys()].filter((event) => !hookedEvents.has(event));
  const layers = settings.filter(({ commands }) => commands.size > 0).map(({ layer }) => layer);
  const duplicateNote = layers.length > 1 ? `, in several settings (${layers.join(', ')}); one is enough` : '';
  if (missingEvents.length === 0) {
    const spareEvents = [...hookedEvents].filter((event) => isCallEvent(event) && !neededEvents.has(event));
    const spareNote =
      spareEvents.length === 0
        ? ''
        : `; ${spareEvents.join(', ')} start a process per call without need: ${initFor(layers[0])} removes them`;
    return [passed('hooks', `all ${neededEvents.size} events${duplicateNote}${spareNote}`)];
  }
  return [
    failed('hooks', `these events are not recorded: ${missingEvents.join(', ')}`, `Run ${initFor(layers[0])} again.`),
  ];
}

function pathLine(command: string, settings: readonly FoundSettings[]): readonly DoctorLine[] {
  const words = commandWords(command);
  const paths = words.filter((word) => isAbsolute(word) || /^[A-Za-z]:[\\/]/.test(word));
  const loadedFiles = paths
    .filter((path) => basename(path) === 'hook.cjs')
    .map((path) => join(dirname(path), 'hook-main.cjs'));
  const missingFiles = [...paths, ...loadedFiles].filter((path) => !existsSync(path));
  if (missingFiles.length === 0) return [];
  const brokenSettings = settings.find(({ commands }) =>
    [...commands.values()].some((found) => found.includes(command)),
  );
  const fix = `Run ${initFor(brokenSettings?.layer)} again: Node or coxswain has moved, or was uninstalled; without coxswain, delete its hooks: coxswain init --undo.`;
  return [failed('hook paths', `${missingFiles.join(', ')} does not exist`, fix)];
}

/** Splits a shell command as written by `init` into words. A word is unquoted, or in single or double quotes. */
export function commandWords(command: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [, space, single, double, escaped, bare] of command.matchAll(PART)) {
    if (space !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      // In double quotes, a backslash escapes only these four characters.
      const text = single ?? double?.replaceAll(/\\([\\"$`])/g, '$1') ?? escaped ?? bare ?? '';
      word = (word ?? '') + text;
    }
  }
  return word === undefined ? words : [...words, word];
}

const PART = /(\s+)|'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+|['"\\])/g;

interface FoundSettings {
  readonly layer: 'project' | 'local' | 'user';
  readonly file: string;
  readonly state: 'absent' | 'unreadable' | 'read';
  readonly problem?: string;
  readonly commands: ReadonlyMap<string, readonly string[]>;
  readonly hooksOff: boolean;
  /** True if `cleanupPeriodDays` is set, after which Claude Code deletes its session files. */
  readonly saysHowLong: boolean;
  readonly plugins: readonly string[];
}

export interface SettingsPlaces extends HostScope {
  readonly projectFolder: string;
}

export function findSettings({ projectFolder, homeFolder, env }: SettingsPlaces): readonly FoundSettings[] {
  const configFolder = env['CLAUDE_CONFIG_DIR'];
  const userFolder = configFolder === undefined || configFolder === '' ? join(homeFolder, '.claude') : configFolder;
  const local = (folder: string): FoundSettings =>
    readSettings('local', join(folder, '.claude', 'settings.local.json'));
  const ownLocal = local(projectFolder);
  return [
    readSettings('project', join(projectFolder, '.claude', 'settings.json')),
    // In a linked work tree, Claude Code reads that of the main one.
    ownLocal.state === 'absent' ? local(projectAt(projectFolder) ?? projectFolder) : ownLocal,
    readSettings('user', join(userFolder, 'settings.json')),
  ];
}

const NOTHING = {
  commands: new Map<string, readonly string[]>(),
  hooksOff: false,
  saysHowLong: false,
  plugins: [],
};

function readSettings(layer: FoundSettings['layer'], file: string): FoundSettings {
  try {
    const settingsFile = findFile(file);
    if (settingsFile === undefined) return { layer, file, state: 'absent', ...NOTHING };
    const text = settingsFile.bytes.toString('utf8');
    const problem = ignoredSettings(text);
    if (problem !== undefined) return { layer, file, state: 'unreadable', problem, ...NOTHING };
    const settings: unknown = JSON.parse(text.replace(/^\uFEFF/, '') || '{}');
    return { layer, file, state: 'read', commands: ourHooks(text), ...factsOf(settings) };
  } catch (error) {
    return { layer, file, state: 'unreadable', problem: messageOf(error), ...NOTHING };
  }
}

function factsOf(settings: unknown): Pick<FoundSettings, 'hooksOff' | 'plugins' | 'saysHowLong'> {
  if (!isJsonObject(settings)) return NOTHING;
  const enabled = settings['enabledPlugins'];
  const plugins = isJsonObject(enabled)
    ? Object.keys(enabled).filter((name) => /^coxswain(?:@|$)/.test(name) && enabled[name] !== false)
    : [];
  const saysHowLong = typeof settings['cleanupPeriodDays'] === 'number';
  return { hooksOff: settings['disableAllHooks'] === true, saysHowLong, plugins };
}
