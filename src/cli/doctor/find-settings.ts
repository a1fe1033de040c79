import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'jsonc-parser';

import { messageOf } from '../../base/error.ts';
import { isJsonObject } from '../../base/json.ts';
import { ourCommands } from '../../claude-code/edit-settings.ts';
import { HOOK_MARK } from '../../claude-code/init-hooks.ts';

/** A settings file of Claude Code, as it was found. */
export interface FoundSettings {
  readonly layer: 'project' | 'local' | 'user';
  readonly file: string;
  readonly state: 'absent' | 'unreadable' | 'read';
  /** Why it is unreadable. */
  readonly problem?: string;
  /** Our commands, by event. */
  readonly commands: ReadonlyMap<string, readonly string[]>;
  /** Addresses of our http hooks. */
  readonly urls: readonly string[];
  /** `disableAllHooks` is set. */
  readonly hooksOff: boolean;
  /** Plugins of ours that are switched on. */
  readonly plugins: readonly string[];
}

/** Where Claude Code's settings are. */
export interface SettingsPlaces {
  readonly projectFolder: string;
  readonly homeFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Reads the settings that hold in a project: its own, the local ones beside them, the user's. Never throws. */
export function findSettings({ projectFolder, homeFolder, env }: SettingsPlaces): readonly FoundSettings[] {
  const configFolder = env['CLAUDE_CONFIG_DIR'];
  const users = configFolder === undefined || configFolder === '' ? join(homeFolder, '.claude') : configFolder;
  return [
    read('project', join(projectFolder, '.claude', 'settings.json')),
    read('local', join(projectFolder, '.claude', 'settings.local.json')),
    read('user', join(users, 'settings.json')),
  ];
}

const NOTHING = { commands: new Map<string, readonly string[]>(), urls: [], hooksOff: false, plugins: [] };

function read(layer: FoundSettings['layer'], file: string): FoundSettings {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
    if (isAbsent) return { layer, file, state: 'absent', ...NOTHING };
    return { layer, file, state: 'unreadable', problem: messageOf(error), ...NOTHING };
  }
  try {
    const commands = ourCommands(text);
    const settings: unknown = parse(text.replace(/^\uFEFF/, ''), [], { allowTrailingComma: true });
    return { layer, file, state: 'read', commands, ...factsOf(settings) };
  } catch (error) {
    return { layer, file, state: 'unreadable', problem: messageOf(error), ...NOTHING };
  }
}

function factsOf(settings: unknown): Pick<FoundSettings, 'urls' | 'hooksOff' | 'plugins'> {
  if (!isJsonObject(settings)) return NOTHING;
  const enabled = settings['enabledPlugins'];
  const plugins = isJsonObject(enabled)
    ? Object.keys(enabled).filter((name) => /^coxswain(?:@|$)/.test(name) && enabled[name] !== false)
    : [];
  return { urls: [...new Set(urlsIn(settings['hooks']))], hooksOff: settings['disableAllHooks'] === true, plugins };
}

/** Addresses of http hooks that end in our mark. */
function urlsIn(hooks: unknown): readonly string[] {
  if (!isJsonObject(hooks)) return [];
  const entries = Object.values(hooks).flatMap((groups) => (Array.isArray(groups) ? (groups as unknown[]) : []));
  return entries.flatMap((group) => {
    const hook = isJsonObject(group) ? group['hooks'] : undefined;
    if (!Array.isArray(hook)) return [];
    return hook.flatMap((one: unknown) => {
      const url = isJsonObject(one) && one['type'] === 'http' ? one['url'] : undefined;
      return typeof url === 'string' && pathOf(url).endsWith(`/${HOOK_MARK}`) ? [url] : [];
    });
  });
}

function pathOf(url: string): string {
  return URL.parse(url)?.pathname ?? '';
}
