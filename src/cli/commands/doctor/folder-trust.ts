import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

import { membersOf, type JsonMembers, jsonOf } from '../../../core/base/json.ts';
import { hostFolder } from '../../../formats/find-sessions.ts';
import type { HostName } from '../../../hosts/dialects/hook-dialect.ts';
import type { SettingsPlaces } from './find-settings.ts';

/** Returns whether a host trusts a project folder, by its own files. Undefined if no rule of the user is about the folder. */
export function trustsFolder(host: HostName, { env, homeFolder, projectFolder }: SettingsPlaces): boolean | undefined {
  const folder = hostFolder(host, { home: homeFolder, env });
  const rules = host === 'gemini' ? geminiRules(folder, env) : Object.entries(membersIn(join(folder, 'trust.json')));
  if (rules === 'all') return true;
  const project = realPath(projectFolder);
  const applying = rules.flatMap(([path, value]) => {
    const place = realPath(value === 'TRUST_PARENT' ? dirname(path) : path);
    const isInside = project === place || project.startsWith(place.endsWith(sep) ? place : place + sep);
    return isInside && value !== null
      ? [{ length: path.length, trusts: value !== false && value !== 'DO_NOT_TRUST' }]
      : [];
  });
  return applying.toSorted((a, b) => b.length - a.length)[0]?.trusts;
}

function geminiRules(folder: string, env: SettingsPlaces['env']): readonly (readonly [string, unknown])[] | 'all' {
  const { security } = membersIn(join(folder, 'settings.json'));
  if (
    membersOf(membersOf(security)['folderTrust'])['enabled'] === false ||
    env['GEMINI_CLI_TRUST_WORKSPACE'] === 'true'
  )
    return 'all';
  return Object.entries(membersIn(env['GEMINI_CLI_TRUSTED_FOLDERS_PATH'] || join(folder, 'trustedFolders.json')));
}

/** The members of a JSON file of the user; none if it cannot be read. */
function membersIn(file: string): JsonMembers {
  try {
    return membersOf(jsonOf(readFileSync(file, 'utf8')));
  } catch {
    // The host has no such rules.
    return {};
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // A rule about a folder that is gone.
    return path;
  }
}
