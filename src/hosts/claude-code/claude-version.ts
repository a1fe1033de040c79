import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

import { runLimited } from '../../core/node/run-limited.ts';

const LIMIT_MS = 10_000;

/** The first version of Claude Code with an event after all calls of an answer, `PostToolBatch`. */
export const FIRST_WITH_BATCHES = '2.1.118';

export interface FoundClaude {
  readonly file: string;
  /** The first line that `claude --version` prints. Empty if the program failed; `problem` then says how. */
  readonly version: string;
  readonly problem?: string;
}

/** @returns undefined if it is not on the PATH */
export async function findClaude(
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<FoundClaude | undefined> {
  const file = programOf('claude', env['PATH'] ?? '');
  if (file === undefined) return undefined;
  const { code, stdout, timedOut } = await runLimited({
    command: file,
    args: ['--version'],
    cwd,
    env,
    limitMs: LIMIT_MS,
  });
  const version = stdout.trim().split('\n')[0] ?? '';
  if (code === 0 && version !== '') return { file, version };
  const problem = timedOut ? `did not finish in ${LIMIT_MS / 1000} seconds` : `exited with code ${code}`;
  return { file, version: '', problem };
}

export function hasBatches(version: string): boolean {
  const numbers = /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number);
  if (numbers === undefined) return true;
  const first = FIRST_WITH_BATCHES.split('.').map(Number);
  const at = numbers.findIndex((number, index) => number !== first[index]);
  return at === -1 || (numbers[at] ?? 0) > (first[at] ?? 0);
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
