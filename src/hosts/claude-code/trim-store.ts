import { statSync } from 'node:fs';
import { dirname } from 'node:path';

import { makeOwnFolder, replaceGuarded } from '../../base/guarded-file.ts';
import { stateRoot } from '../../base/state-places.ts';
import type { ResolvedStore } from '../../config/resolved-config.ts';
import { DEFAULT_MAX_STORE_BYTES } from '../../store/collect-garbage.ts';
import { withoutSessionSecrets } from './session-secrets.ts';
import { isDefaultPlace, trimMarkOf } from './open-hook-store.ts';

/** How often a store is trimmed. */
const TRIM_MS = 24 * 3_600_000;

/** What trims a store. */
export interface TrimOptions {
  /** What starts the command line of coxswain; undefined where there is none. */
  readonly program: readonly string[] | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Default: `DEFAULT_MAX_STORE_BYTES`. */
  readonly maxBytes?: number;
}

/**
 * Sees to it that the store of a project does not grow for ever: where its file is over the limit, `coxswain gc` is started
 * in a process of its own, at most once a day, and deletes the runs that were active longest ago. Only a SQLite store in its
 * default place: what the configuration has put elsewhere may be somebody's archive.
 *
 * @returns whether it was started
 * Cost: a look at the file.
 */
export function trimStore(store: ResolvedStore, { program, env, maxBytes }: TrimOptions): boolean {
  const limit = maxBytes ?? DEFAULT_MAX_STORE_BYTES;
  const size = statSync(store.address, { throwIfNoEntry: false })?.size ?? 0;
  const [command, ...args] = program ?? [];
  if (store.kind !== 'sqlite' || !isDefaultPlace(store, { env }) || size <= limit || command === undefined)
    return false;
  const mark = trimMarkOf(store, { env });
  const lastMs = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - lastMs < TRIM_MS) return false;
  makeOwnFolder(stateRoot({ env }), dirname(mark));
  replaceGuarded(mark, '');
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(command, [...args, 'gc', store.address, '--max-size', `${Math.ceil(limit / 1000)}kB`], {
    env: withoutSessionSecrets(env),
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  });
  // Where it cannot be started, the next day tries again; doctor tells of a store that is too large.
  child.on('error', () => undefined);
  child.unref();
  return true;
}
