import { listOf, membersOf } from '../../../core/base/json-member.ts';
import { join } from 'node:path';

import { messageOf } from '../../../core/base/error.ts';
import { isJsonObject } from '../../../core/base/json.ts';
import { ignoredSettings, ourHooks } from '../../../hosts/claude-code/edit-settings.ts';
import { isOurCommand, markOf } from '../../../hosts/claude-code/init-hooks.ts';
import { findFile } from '../../../core/node/written-file.ts';

/** A settings file of Claude Code. */
export interface FoundSettings {
  readonly layer: 'project' | 'local' | 'user';
  readonly file: string;
  readonly state: 'absent' | 'unreadable' | 'read';
  /** Reason why the file is unreadable. */
  readonly problem?: string;
  /** Coxswain commands by event name. */
  readonly commands: ReadonlyMap<string, readonly string[]>;
  /** The different requests of coxswain HTTP hooks. */
  readonly requests: readonly HookRequest[];
  /** Names of events with a coxswain HTTP hook. */
  readonly httpEvents: readonly string[];
  /** True if `disableAllHooks` is set. */
  readonly hooksOff: boolean;
  /** Names of enabled coxswain plugins. */
  readonly plugins: readonly string[];
}

/** The address and headers of an HTTP hook. */
export interface HookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
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
  requests: [],
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
    const hooks = [...ourHooks(text)].map(([event, marks]) => [event, marks.filter(isOurCommand)] as const);
    const commands = new Map(hooks.filter(([, marks]) => marks.length > 0));
    const settings: unknown = JSON.parse(text.replace(/^\uFEFF/, '') || '{}');
    return { layer, file, state: 'read', commands, ...factsOf(settings) };
  } catch (error) {
    return { layer, file, state: 'unreadable', problem: messageOf(error), ...NOTHING };
  }
}

function factsOf(settings: unknown): Omit<FoundSettings, 'layer' | 'file' | 'state' | 'problem' | 'commands'> {
  if (!isJsonObject(settings)) return NOTHING;
  const enabled = settings['enabledPlugins'];
  const plugins = isJsonObject(enabled)
    ? Object.keys(enabled).filter((name) => /^coxswain(?:@|$)/.test(name) && enabled[name] !== false)
    : [];
  const requests = requestsIn(settings['hooks']);
  const distinctRequests = new Map(requests.map(([, request]) => [JSON.stringify(request), request]));
  return {
    requests: [...distinctRequests.values()],
    httpEvents: [...new Set(requests.map(([event]) => event))],
    hooksOff: settings['disableAllHooks'] === true,
    plugins,
  };
}

/** Returns the event and request of each coxswain HTTP hook. */
function requestsIn(hooks: unknown): readonly (readonly [event: string, HookRequest])[] {
  if (!isJsonObject(hooks)) return [];
  return Object.entries(hooks).flatMap(([event, groups]) =>
    listOf(groups)
      .flatMap((group) => listOf(membersOf(group)['hooks']))
      .flatMap((hook) => requestOf(hook).map((request) => [event, request] as const)),
  );
}

function requestOf(hook: unknown): readonly HookRequest[] {
  if (!isJsonObject(hook) || hook['type'] !== 'http' || markOf(hook) === undefined) return [];
  const { url, headers } = hook;
  const texts = Object.entries(membersOf(headers)).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return [{ url: String(url), headers: Object.fromEntries(texts) }];
}
