/**
 * `dist/hook.cjs`: the program in a host's settings. Loads the hook (`dist/hook-main.cjs`, one file) with the code cache of an
 * earlier process, which takes a third of the time.
 */
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { constants, Script } from 'node:vm';

import { present } from '../../base/present.ts';
import type * as HookMain from './hook-main.ts';
import { logFault } from './fault-log.ts';
import { endProcess, readStdin } from './read-stdin.ts';

/** The value of `hook-main.cjs`: a function that fills in `exports`. */
type MainModule = (exports: object, require: NodeJS.Require) => void;

/** Defined by the bundler: identifies the contents of `hook-main.cjs`. */
declare const COXSWAIN_HOOK_HASH: string;

async function launch(): Promise<void> {
  // Read by a thread while the hook is loaded.
  const stdin = readStdin();
  // If the hook cannot be loaded, nothing awaits it.
  stdin.catch(() => undefined);
  const file = join(__dirname, 'hook-main.cjs');
  const cache = cacheFile();
  const cached = cache === undefined ? undefined : readCache(cache);
  if (cached === undefined) setCompilers(false);
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    ...present({ cachedData: cached }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const exported = {};
  // The file is built with this wrapper.
  (script.runInThisContext() as MainModule)(exported, requireOnce());
  // It exports the members of this module.
  const { runHook, warmUp } = exported as typeof HookMain;
  await runHook(stdin, endProcess);
  if (cache === undefined || (cached !== undefined && script.cachedDataRejected !== true)) return;
  await warmUp();
  setCompilers(true);
  writeCache(cache, script.createCachedData());
}

/**
 * Compiles only to bytecode while the hook runs for its code cache: the engine would record optimised functions and compile
 * them again at the start of every process, which takes as long as running them. Switched on again before the cache is
 * created, because it is valid only for the same settings.
 */
function setCompilers(on: boolean): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const compiler of ['sparkplug', 'maglev', 'opt']) setFlagsFromString(on ? `--${compiler}` : `--no-${compiler}`);
}

/** `require` that resolves each of Node's modules once: many files import the same ones. */
function requireOnce(): NodeJS.Require {
  const known = new Map<string, unknown>();
  const once = (id: string): unknown => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const found: unknown = require(id);
    known.set(id, found);
    return found;
  };
  // The bundle only calls it.
  return once as NodeJS.Require;
}

/** In the user's cache folder, because the content is executed. Undefined without one. */
function cacheFile(): string | undefined {
  const { XDG_CACHE_HOME, HOME, LOCALAPPDATA } = process.env;
  const home = HOME === undefined || !isAbsolute(HOME) ? undefined : join(HOME, '.cache');
  const folder = [XDG_CACHE_HOME, process.platform === 'win32' ? LOCALAPPDATA : undefined, home].find(
    (path) => path !== undefined && isAbsolute(path),
  );
  return folder === undefined
    ? undefined
    : join(folder, 'coxswain', `hook-${process.version}-${process.arch}-${COXSWAIN_HOOK_HASH}.bin`);
}

/** Distance of the sampled bytes: about one per page of the disk's cache. */
const SAMPLE_BYTES = 4_093;

/** Size of the checksum before the data; see `sampleOf`. */
const HEAD_BYTES = 8;

/**
 * The code cache of an earlier process; undefined if it is missing or damaged (the engine would crash), belongs to another user,
 * or is writable for others.
 */
function readCache(file: string): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    const { uid, mode } = fstatSync(fd);
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) return undefined;
    const bytes = readFileSync(fd);
    const data = bytes.subarray(HEAD_BYTES);
    return bytes.readDoubleLE(0) === sampleOf(data) ? data : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/**
 * A checksum of the length and some bytes, which detects a truncated file or an unwritten block. A checksum of all bytes would
 * cost as much time as the cache saves.
 */
function sampleOf(data: Buffer): number {
  let sample = data.length;
  for (let at = 0; at < data.length; at += SAMPLE_BYTES) sample = (sample * 31 + (data[at] ?? 0)) % 0xffff_ffff_ffff;
  return sample;
}

/** Also deletes the caches of earlier builds for this Node. */
function writeCache(file: string, data: Buffer): void {
  const folder = join(file, '..');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const unfinished = `${file}.${process.pid}`;
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeDoubleLE(sampleOf(data));
    // Synced before the rename.
    writeFileSync(unfinished, Buffer.concat([head, data]), { mode: 0o600, flush: true });
    renameSync(unfinished, file);
    const ours = `hook-${process.version}-${process.arch}-`;
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (name.startsWith(ours) && path !== file) rmSync(path, { force: true });
    }
  } catch {
    // A full or read-only disk: the next process compiles again.
  }
}

launch()
  .catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const place = { env: process.env, nowMs: Date.now() };
    logFault({ where: 'launcher', message }, place);
  })
  .finally(endProcess);
