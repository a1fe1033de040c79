import { messageOf } from '../../../core/base/error.ts';
import { hostTitle } from '../../../formats/find-sessions.ts';
import { HOST_PLACES } from '../../../hosts/claude-code/host-places.ts';
import { ownHookFile } from '../../../hosts/claude-code/init-claude-code.ts';
import { hookCommand, HOOK_MARK } from '../../../hosts/claude-code/init-hooks.ts';
import { codexHooks } from '../../../hosts/claude-code/trust-codex-hooks.ts';
import { findFile } from '../../../core/node/written-file.ts';
import { HOSTS, type HostName } from '../../../hosts/dialects/hook-dialect.ts';
import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';
import type { SettingsPlaces } from './find-settings.ts';

/**
 * Checks the settings of hosts other than Claude Code. Returns a line per file with a coxswain hook, and a line on whether Codex
 * trusts the hook. Starts `codex` only if its settings contain the hook.
 */
export async function checkHosts({ env, homeFolder, projectFolder }: SettingsPlaces): Promise<readonly DoctorLine[]> {
  const program = { node: process.execPath, hookFile: ownHookFile() };
  const lines: DoctorLine[] = [];
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
  const codexScope = hookScopes.get('codex');
  if (codexScope === undefined) return lines;
  const initCommand = `coxswain init codex${codexScope === 'user' ? ' --user' : ''}`;
  return [...lines, await trustLine(projectFolder, { env, ...program, initCommand })];
}

interface TrustPlace {
  readonly env: NodeJS.ProcessEnv;
  readonly node: string;
  readonly hookFile: string;
  /** Adds the hook again and makes Codex trust it. */
  readonly initCommand: string;
}

async function trustLine(projectFolder: string, { env, hookFile, initCommand, node }: TrustPlace): Promise<DoctorLine> {
  const check = 'codex trust';
  const hooks = await codexHooks(projectFolder, { env, command: hookCommand(node, hookFile) });
  if (typeof hooks === 'string') return unknown(check, hooks, 'See /hooks in Codex.');
  const untrusted = hooks.filter(({ isTrusted }) => !isTrusted).length;
  if (hooks.length > 0 && untrusted === 0) return passed(check, `${hostTitle('codex')} trusts the hook`);
  const found =
    hooks.length === 0
      ? 'Codex does not read the hook in this project'
      : `Codex does not run ${untrusted} untrusted hooks`;
  return failed(check, found, `Run ${initCommand} again, or trust the project and the hook in Codex (/hooks).`);
}
