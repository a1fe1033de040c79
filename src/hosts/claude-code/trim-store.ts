import { statSync } from 'node:fs';

import { replaceGuarded } from '../../core/node/guarded-file.ts';
import { isProjectStore } from '../../core/node/git-folder.ts';
import type { ResolvedStore } from '../config/resolve-config.ts';
import { DEFAULT_MAX_STORE_BYTES } from '../../stores/collect-garbage.ts';
import { withoutSessionSecrets } from './session-secrets.ts';

/** Minimum interval between two trims of a store. */
const TRIM_MS = 24 * 3_600_000;

export interface TrimOptions {
  readonly program: readonly string[] | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Default: `DEFAULT_MAX_STORE_BYTES`. */
  readonly maxBytes?: number;
}

/** At most once a day, for a project's store over the limit in the data folder. True if a process started. Cost: a stat call. */
export function trimStore(store: ResolvedStore, { program, env, maxBytes }: TrimOptions): boolean {
  const limit = maxBytes ?? DEFAULT_MAX_STORE_BYTES;
  const size = statSync(store.address, { throwIfNoEntry: false })?.size ?? 0;
  const [command, ...args] = program ?? [];
  if (store.kind !== 'sqlite' || !isProjectStore(store.address, { env }) || size <= limit || command === undefined)
    return false;
  const mark = trimMarkOf(store.address);
  const lastMs = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - lastMs < TRIM_MS) return false;
  replaceGuarded(mark, '');
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(command, [...args, 'gc', store.address, '--max-size', `${Math.ceil(limit / 1000)}kB`], {
    env: withoutSessionSecrets(env),
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  });
  // The next attempt is made a day later. `coxswain doctor` reports a store that is too large.
  child.on('error', () => undefined);
  child.unref();
  return true;
}

export function trimMarkOf(storeFile: string): string {
  return `${storeFile}-trimmed`;
}
