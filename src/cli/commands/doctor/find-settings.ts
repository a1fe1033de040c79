import { join } from 'node:path';

import { parse } from 'jsonc-parser';

import { messageOf } from '../../../base/error.ts';
import { isJsonObject } from '../../../base/json.ts';
import { ourHooks } from '../../../hosts/claude-code/edit-settings.ts';
import { isOurCommand, markOf } from '../../../hosts/claude-code/init-hooks.ts';
import { findFile } from '../../../hosts/claude-code/written-file.ts';

/** A settings file of Claude Code, as it was found. */
export interface FoundSettings {
  readonly layer: 'project' | 'local' | 'user';
  readonly file: string;
  readonly state: 'absent' | 'unreadable' | 'read';
  /** Why it is unreadable. */
  readonly problem?: string;
  /** Our commands, by event. */
  readonly commands: ReadonlyMap<string, readonly string[]>;
  /** Our http hooks: where they go, and what they bring. */
  readonly requests: readonly HookRequest[];
  /** Events that one of our http hooks takes. */
  readonly httpEvents: readonly string[];
  /** `disableAllHooks` is set. */
  readonly hooksOff: boolean;
  /** Plugins of ours that are switched on. */
  readonly plugins: readonly string[];
}

/** What an http hook of ours sends, besides the event. Different for each server and token. */
export interface HookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
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

const NOTHING = {
  commands: new Map<string, readonly string[]>(),
  requests: [],
  httpEvents: [],
  hooksOff: false,
  plugins: [],
};

function read(layer: FoundSettings['layer'], file: string): FoundSettings {
  let text: string;
  try {
    const found = findFile(file);
    if (found === undefined) return { layer, file, state: 'absent', ...NOTHING };
    text = found.bytes.toString('utf8');
  } catch (error) {
    return { layer, file, state: 'unreadable', problem: messageOf(error), ...NOTHING };
  }
  try {
    const ours = [...ourHooks(text)].map(([event, marks]) => [event, marks.filter(isOurCommand)] as const);
    const commands = new Map(ours.filter(([, found]) => found.length > 0));
    const settings: unknown = parse(text.replace(/^\uFEFF/, ''), [], { allowTrailingComma: true });
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
  const byText = new Map(requests.map(([, request]) => [JSON.stringify(request), request]));
  return {
    requests: [...byText.values()],
    httpEvents: [...new Set(requests.map(([event]) => event))],
    hooksOff: settings['disableAllHooks'] === true,
    plugins,
  };
}

/** Event and request of each http hook of ours. */
function requestsIn(hooks: unknown): readonly (readonly [event: string, HookRequest])[] {
  if (!isJsonObject(hooks)) return [];
  return Object.entries(hooks).flatMap(([event, groups]) =>
    (Array.isArray(groups) ? (groups as unknown[]) : []).flatMap((group) => {
      const entries = isJsonObject(group) ? group['hooks'] : undefined;
      return (Array.isArray(entries) ? (entries as unknown[]) : []).flatMap((hook) => {
        const request = requestOf(hook);
        return request === undefined ? [] : [[event, request] as const];
      });
    }),
  );
}

function requestOf(hook: unknown): HookRequest | undefined {
  if (!isJsonObject(hook) || hook['type'] !== 'http' || markOf(hook) === undefined) return undefined;
  const { url, headers } = hook;
  const given = isJsonObject(headers) ? Object.entries(headers) : [];
  return {
    url: String(url),
    headers: Object.fromEntries(given.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))),
  };
}
