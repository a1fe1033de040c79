import { join } from 'node:path';

import { messageOf } from '../../../core/base/error.ts';
import { isJsonObject } from '../../../core/base/json.ts';
import { ignoredSettings, ourHooks } from '../../../hosts/claude-code/edit-settings.ts';
import { isOurCommand } from '../../../hosts/claude-code/init-hooks.ts';
import { findFile } from '../../../core/node/guarded-file.ts';

/** A settings file of Claude Code. */
export interface FoundSettings {
  readonly layer: 'project' | 'local' | 'user';
  readonly file: string;
  readonly state: 'absent' | 'unreadable' | 'read';
  /** Reason why the file is unreadable. */
  readonly problem?: string;
  /** Coxswain commands by event name. */
  readonly commands: ReadonlyMap<string, readonly string[]>;
  /** Names of events with an HTTP hook of an earlier version of coxswain. Its server no longer exists. */
  readonly httpEvents: readonly string[];
  /** True if `disableAllHooks` is set. */
  readonly hooksOff: boolean;
  /** Names of enabled coxswain plugins. */
  readonly plugins: readonly string[];
}

/** The folders that contain settings. */
export interface SettingsPlaces {
  readonly projectFolder: string;
  readonly homeFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Reads the settings that apply to a project: shared, local and user settings. Never throws. */
export function findSettings({ projectFolder, homeFolder, env }: SettingsPlaces): readonly FoundSettings[] {
  const configFolder = env['CLAUDE_CONFIG_DIR'];
  const userFolder = configFolder === undefined || configFolder === '' ? join(homeFolder, '.claude') : configFolder;
  return [
    readSettings('project', join(projectFolder, '.claude', 'settings.json')),
    readSettings('local', join(projectFolder, '.claude', 'settings.local.json')),
    readSettings('user', join(userFolder, 'settings.json')),
  ];
}

const NOTHING = {
  commands: new Map<string, readonly string[]>(),
  httpEvents: [],
  hooksOff: false,
  plugins: [],
};

function readSettings(layer: FoundSettings['layer'], file: string): FoundSettings {
  try {
    const settingsFile = findFile(file);
    if (settingsFile === undefined) return { layer, file, state: 'absent', ...NOTHING };
    const text = settingsFile.bytes.toString('utf8');
    const problem = ignoredSettings(text);
    if (problem !== undefined) return { layer, file, state: 'unreadable', problem, ...NOTHING };
    const hooks = [...ourHooks(text)];
    const marked = hooks.map(([event, marks]) => [event, marks.filter(isOurCommand)] as const);
    const commands = new Map(marked.filter(([, marks]) => marks.length > 0));
    const httpEvents = hooks.filter(([, marks]) => !marks.every(isOurCommand)).map(([event]) => event);
    const settings: unknown = JSON.parse(text.replace(/^\uFEFF/, '') || '{}');
    return { layer, file, state: 'read', commands, httpEvents, ...factsOf(settings) };
  } catch (error) {
    return { layer, file, state: 'unreadable', problem: messageOf(error), ...NOTHING };
  }
}

function factsOf(settings: unknown): Pick<FoundSettings, 'hooksOff' | 'plugins'> {
  if (!isJsonObject(settings)) return NOTHING;
  const enabled = settings['enabledPlugins'];
  const plugins = isJsonObject(enabled)
    ? Object.keys(enabled).filter((name) => /^coxswain(?:@|$)/.test(name) && enabled[name] !== false)
    : [];
  return { hooksOff: settings['disableAllHooks'] === true, plugins };
}
