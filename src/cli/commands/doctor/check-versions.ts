import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

import { messageOf } from '../../../core/base/error.ts';
import { requireSqlite } from '../../../stores/sqlite/sqlite-database.ts';
import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';
import { runLimited } from '../../../core/node/run-limited.ts';

const CLAUDE_LIMIT_MS = 10_000;

/** Returns the versions of Node, coxswain and SQLite, and of Claude Code if it is on the PATH. */
export async function checkVersions(
  version: string,
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly usesClaude: boolean;
  },
): Promise<readonly DoctorLine[]> {
  const { cwd, env, usesClaude } = options;
  return [
    passed('node', `${process.version} (${process.execPath})`),
    passed('coxswain', version),
    checkSqlite(process.versions.sqlite),
    ...(env['COXSWAIN_DISABLE'] === '1'
      ? [failed('enabled', 'COXSWAIN_DISABLE=1 is set here: nothing is recorded', 'Run: unset COXSWAIN_DISABLE')]
      : []),
    ...(usesClaude ? [await checkClaude(cwd, env)] : []),
  ];
}

function checkSqlite(version: string | undefined): DoctorLine {
  const fix = 'Install Node 24 from nodejs.org, which includes a newer SQLite.';
  if (version === undefined) return unknown('sqlite', 'this Node does not report its SQLite version', fix);
  try {
    requireSqlite(version);
    return passed('sqlite', version);
  } catch (error) {
    return failed('sqlite', messageOf(error), fix);
  }
}

async function checkClaude(cwd: string, env: Readonly<Record<string, string | undefined>>): Promise<DoctorLine> {
  const fix = 'Install Claude Code, or put claude on the PATH, if you use it here.';
  const file = programOf('claude', env['PATH'] ?? '');
  if (file === undefined) return unknown('claude', 'not on the PATH', fix);
  const { code, stdout, timedOut } = await runLimited({
    command: file,
    args: ['--version'],
    cwd,
    env,
    limitMs: CLAUDE_LIMIT_MS,
  });
  const version = stdout.trim().split('\n')[0] ?? '';
  if (code === 0 && version !== '') return passed('claude', `${version} (${file})`);
  const reason = timedOut ? `did not finish in ${CLAUDE_LIMIT_MS / 1000} seconds` : `exited with code ${code}`;
  return unknown('claude', `${file} --version ${reason}`, fix);
}

function programOf(name: string, path: string): string | undefined {
  const files = path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name));
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}
