import { messageOf } from '../../../core/base/error.ts';
import { realPlace } from '../../../core/node/state-places.ts';
import { findFile } from '../../../core/node/guarded-file.ts';
import { hostTitle, hostFolder } from '../../../formats/find-sessions.ts';
import { HOST_PLACES } from '../../../hosts/claude-code/host-places.ts';
import { ownHookFile } from '../../../hosts/claude-code/init-claude-code.ts';
import { hookCommand, HOOK_MARK } from '../../../hosts/claude-code/init-hooks.ts';
import { codexHooks, type CodexHook } from '../../../hosts/claude-code/trust-codex-hooks.ts';
import { HOSTS, type HostName } from '../../../hosts/dialects/hook-dialect.ts';
import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';
import type { SettingsPlaces } from './check-settings.ts';
import { readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { jsonOf, type JsonMembers, listOf, membersOf } from '../../../core/base/json.ts';

export interface HookedHost {
  readonly host: HostName;
  readonly file: string;
}

interface CheckedHosts {
  readonly hooks: readonly HookedHost[];
  readonly lines: readonly DoctorLine[];
}

/** Starts `codex` only if its settings contain the hook. */
export async function checkHosts({ env, homeFolder, projectFolder }: SettingsPlaces): Promise<CheckedHosts> {
  const program = { node: process.execPath, hookFile: ownHookFile() };
  const lines: DoctorLine[] = [];
  const hooks: HookedHost[] = [];
  const hookScopes = new Map<HostName, 'project' | 'user'>();
  for (const host of HOSTS) {
    if (host === 'claude-code') continue;
    for (const scope of ['project', 'user'] as const) {
      const place = { env, homeFolder, ...(scope === 'project' ? { projectFolder } : {}) };
      const file = HOST_PLACES[host].settingsFile(place);
      const check = `${host} (${scope})`;
      const fix = `Run coxswain init ${host}${scope === 'user' ? ' --user' : ''} again.`;
      try {
        const text = findFile(file)?.bytes.toString('utf8') ?? '';
        if (!text.includes(HOOK_MARK)) continue;
        if (!hookScopes.has(host)) hookScopes.set(host, scope);
        hooks.push({ host, file });
        const isCurrent = HOST_PLACES[host].edit(text, program) === text;
        lines.push(
          isCurrent
            ? passed(check, `${file}: the coxswain hook`)
            : failed(check, `${file}: the hook starts another copy of coxswain, or some events have no hook`, fix),
        );
      } catch (error) {
        lines.push(failed(check, `${file}: ${messageOf(error)}`, `Fix ${file} in an editor.`));
      }
    }
  }
  for (const [host, scope] of hookScopes)
    if (
      scope === 'project' &&
      !hooks.some((one) => one.host === host && one.file === HOST_PLACES[host].settingsFile({ env, homeFolder }))
    )
      lines.push(...folderLines(host, { env, homeFolder, projectFolder }));
  const codexScope = hookScopes.get('codex');
  if (codexScope === undefined) return { hooks, lines };
  const initCommand = `coxswain init codex${codexScope === 'user' ? ' --user' : ''}`;
  const command = hookCommand(program.node, program.hookFile);
  const codex = await codexHooks(projectFolder, env, command);
  return { hooks, lines: [...lines, trustLine(codex, initCommand)] };
}

function trustLine(hooks: readonly CodexHook[] | string, initCommand: string): DoctorLine {
  const check = 'codex trust';
  if (typeof hooks === 'string') return unknown(check, hooks, 'See /hooks in Codex.');
  const untrusted = hooks.filter(({ isTrusted }) => !isTrusted).length;
  if (hooks.length > 0 && untrusted === 0) return passed(check, `${hostTitle('codex')} trusts the hook`);
  const found =
    hooks.length === 0
      ? 'Codex does not read the hook in this project'
      : `Codex does not run ${untrusted} untrusted hooks`;
  return failed(check, found, `Run ${initCommand} again, or trust the project and the hook in Codex (/hooks).`);
}

const TRUST_STEPS: Readonly<Partial<Record<HostName, string>>> = {
  copilot:
    'Start copilot in this folder once and trust it, start each new session with --trust-folder, or run coxswain init copilot --user.',
  gemini:
    'Start gemini in this folder once and trust it, or run coxswain init gemini --user. With --skip-trust it loads no hook of a project.',
  pi: 'Start pi in this folder once and trust it, start it with -a, or run coxswain init pi --user.',
};

export function folderLines(host: HostName, places: SettingsPlaces): readonly DoctorLine[] {
  const fix = TRUST_STEPS[host];
  if (fix === undefined) return [];
  const check = `${host} trust`;
  const title = hostTitle(host);
  const trust = trustsFolder(host, places);
  if (trust === true) return [passed(check, `${title} trusts this folder`)];
  const found = `${title} ${trust === undefined ? 'was not told to trust' : 'does not trust'} this folder: ${host === 'copilot' ? 'with -p ' : ''}it loads no hook of the project, and says nothing`;
  return [trust === undefined && host !== 'gemini' ? unknown(check, found, fix) : failed(check, found, fix)];
}

/** Returns whether a host trusts a project folder, by its own files. Undefined if no rule of the user is about the folder. */
function trustsFolder(host: HostName, { env, homeFolder, projectFolder }: SettingsPlaces): boolean | undefined {
  const folder = hostFolder(host, { home: homeFolder, env });
  const rules =
    host === 'gemini'
      ? geminiRules(folder, env)
      : host === 'copilot'
        ? listOf(membersIn(join(folder, 'config.json'))['trustedFolders']).map((path) => [String(path), true] as const)
        : Object.entries(membersIn(join(folder, 'trust.json')));
  if (rules === 'all') return true;
  const project = realPlace(projectFolder);
  const applying = rules.flatMap(([path, value]) => {
    const place = realPlace(value === 'TRUST_PARENT' ? dirname(path) : path);
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

/** The members of a JSON file of the user, which may have lines of comment; none if it cannot be read. */
function membersIn(file: string): JsonMembers {
  try {
    return membersOf(jsonOf(readFileSync(file, 'utf8').replaceAll(/^\s*\/\/.*$/gm, '')));
  } catch {
    // The host has no such rules.
    return {};
  }
}
