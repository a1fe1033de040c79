/** `dist/hook.cjs`, named in settings: loads `dist/hook-main.cjs` with the code cache of an earlier process, three times as fast. */
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

import { present } from '../../core/base/json.ts';
import type * as HookMain from './hook-main.ts';
import { LINES_ARGUMENT } from './hook-lines.ts';
import { logFault } from '../../core/node/fault-log.ts';
import { endProcess, readStdin } from './read-stdin.ts';

type MainModule = (exports: object, require: NodeJS.Require) => void;

/** The bundler replaces this constant with a hash of `hook-main.cjs`. */
declare const COXSWAIN_HOOK_HASH: string;

async function launch(): Promise<void> {
  const takesLines = process.argv.includes(LINES_ARGUMENT);
  // A worker thread reads standard input while the hook is loaded.
  const stdin = takesLines ? undefined : readStdin();
  // If the hook cannot be loaded, nothing else handles a rejection.
  stdin?.catch(() => undefined);
  const file = join(__dirname, 'hook-main.cjs');
  const cache = cacheFile();
  const cached = cache === undefined ? undefined : readCache(cache);
  if (cached === undefined && !takesLines) setCompilers(false);
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    ...present({ cachedData: cached }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const exported = {};
  // The build wraps the file in a function of this type.
  (script.runInThisContext() as MainModule)(exported, cachedRequire());
  // The bundle exports the members of this module.
  const { runHook, runHookLines, warmUp } = exported as typeof HookMain;
  if (stdin === undefined) return await runHookLines(endProcess);
  await runHook(stdin, endProcess);
  if (cache === undefined || (cached !== undefined && script.cachedDataRejected !== true)) return;
  await warmUp();
  setCompilers(true);
  writeCache(cache, script.createCachedData());
}

/**
 * Without its machine-code compilers V8 compiles to bytecode. While the hook fills its code cache they are off: the
 * cache would record optimised functions, which every later process would compile at its start. They must be on again
 * before the cache is created, which is valid only for the same V8 settings.
 */
function setCompilers(isOn: boolean): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const compiler of ['sparkplug', 'maglev', 'opt'])
    setFlagsFromString(isOn ? `--${compiler}` : `--no-${compiler}`);
}

/** Returns a `require` that resolves each built-in module of Node once. Many files of the bundle import the same modules. */
function cachedRequire(): NodeJS.Require {
  const modules = new Map<string, unknown>();
  const requireModule = (id: string): unknown => {
    const loaded = modules.get(id);
    if (loaded !== undefined) return loaded;
    const module: unknown = require(id);
    modules.set(id, module);
    return module;
  };
  // The bundle calls it and uses none of its members.
  return requireModule as NodeJS.Require;
}

/** The user's cache folder must be private, because the content is executed. Undefined without one. */
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

/** Distance between sampled bytes. It samples about one byte per page of the disk cache. */
const SAMPLE_BYTES = 4_093;

const HEAD_BYTES = 8;

/** Undefined if the file is missing, damaged, of another user, or writable by others. V8 would crash on damaged data. */
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

/** Detects a truncated file or an unwritten block. A checksum of all bytes would take as much time as the cache saves. */
function sampleOf(data: Buffer): number {
  let sample = data.length;
  for (let at = 0; at < data.length; at += SAMPLE_BYTES) sample = (sample * 31 + (data[at] ?? 0)) % 0xffff_ffff_ffff;
  return sample;
}

function writeCache(file: string, data: Buffer): void {
  const folder = join(file, '..');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const unfinished = `${file}.${process.pid}`;
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeDoubleLE(sampleOf(data));
    // The data is synced to disk before the rename.
    writeFileSync(unfinished, Buffer.concat([head, data]), { mode: 0o600, flush: true });
    renameSync(unfinished, file);
    const ours = `hook-${process.version}-${process.arch}-`;
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (name.startsWith(ours) && path !== file) rmSync(path, { force: true });
    }
  } catch {
    // The disk is full or read-only. The next process compiles again.
  }
}

launch()
  .catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const place = { env: process.env, nowMs: Date.now() };
    logFault({ where: 'launcher', message }, place);
  })
  .finally(endProcess);
