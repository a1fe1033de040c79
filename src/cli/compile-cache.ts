import { readdirSync, rmSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

import { makeOwnFolder } from '../core/node/guarded-file.ts';
import { cacheRoot } from '../core/node/state-places.ts';

/** The bundler replaces this constant with a hash of the sources. */
declare const COXSWAIN_BUILD: string;

const PREFIX = 'compiled-';
/** A build takes 1.5 MB. Two may be in use by turns, such as one of a project and one of the machine. */
const MAX_BUILDS = 3;
const OWNER_ONLY = 0o077;

/** Node keeps compiled code for the next process, in a private folder, because it is executed. Without one, each compiles. */
export function keepCompiledCode(): void {
  const umask = process.umask(OWNER_ONLY);
  try {
    const root = cacheRoot({ env: process.env });
    const folder = join(root, `${PREFIX}${COXSWAIN_BUILD}`);
    const isNew = statSync(folder, { throwIfNoEntry: false }) === undefined;
    makeOwnFolder(root, folder);
    if (isNew) removeOldBuilds(root);
    enableCompileCache(folder);
    // Node writes the files after this event.
    process.on('exit', () => process.umask(OWNER_ONLY));
  } catch {
    // No home folder, or one that is full or read-only.
  } finally {
    process.umask(umask);
  }
}

function removeOldBuilds(root: string): void {
  const builds = readdirSync(root)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => ({ path: join(root, name), madeAtMs: statSync(join(root, name)).mtimeMs }))
    .toSorted((a, b) => b.madeAtMs - a.madeAtMs);
  for (const { path } of builds.slice(MAX_BUILDS)) rmSync(path, { recursive: true, force: true });
}
