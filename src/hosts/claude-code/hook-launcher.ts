/**
 * `dist/hook.cjs`: what Claude Code's settings call, with nothing but Node. Loads the hook (`dist/hook-main.cjs`, one file)
 * with the code that an earlier process compiled, which takes a third of the time.
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

/** What `hook-main.cjs` is, as text: a function that fills in `exports`. */
type MainModule = (exports: object, require: NodeJS.Require) => void;

/** Put in where the hook is bundled: tells the contents of `hook-main.cjs` apart. */
declare const COXSWAIN_HOOK_HASH: string;

async function launch(): Promise<void> {
  // Read meanwhile: a thread does it.
  const stdin = readStdin();
  // Where nobody awaits it, because the hook cannot be loaded.
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
  // And exports what this module does.
  const { runHook, warmUp } = exported as typeof HookMain;
  await runHook(stdin, endProcess);
  if (cache === undefined || (cached !== undefined && script.cachedDataRejected !== true)) return;
  await warmUp();
  setCompilers(true);
  writeCache(cache, script.createCachedData());
}

/**
 * While the hook runs in order to be kept, nothing is compiled further than to bytecode: the engine would note what was, and
 * compile it again in every process before it begins, which takes as long as running it. On again before the data is
 * made, because it is only good for the same settings.
 */
function setCompilers(on: boolean): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const compiler of ['sparkplug', 'maglev', 'opt']) setFlagsFromString(on ? `--${compiler}` : `--no-${compiler}`);
}

/** `require` that looks for each of Node's modules once: many of our files import the same few. */
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

/** In the user's own cache, because what is in the file is run. Undefined where there is none. */
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

/** Every so many bytes one is looked at: about one of each page of the disk's cache. */
const SAMPLE_BYTES = 4_093;

/** A number in front of the data that changes when the data does; see `sampleOf`. */
const HEAD_BYTES = 8;

/**
 * What an earlier process left; undefined where there is nothing, or it is not as it was written: the engine would crash on
 * it. A file of somebody else, or that others may write, does not count.
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
 * A number made of some bytes and the length: it tells a file that was cut off, or of which a block was not written. A sum
 * over all of it would take as long as it saves.
 */
function sampleOf(data: Buffer): number {
  let sample = data.length;
  for (let at = 0; at < data.length; at += SAMPLE_BYTES) sample = (sample * 31 + (data[at] ?? 0)) % 0xffff_ffff_ffff;
  return sample;
}

/** Also takes away what earlier builds left for this Node. */
function writeCache(file: string, data: Buffer): void {
  const folder = join(file, '..');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const unfinished = `${file}.${process.pid}`;
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeDoubleLE(sampleOf(data));
    // Also on the disk before it has its name.
    writeFileSync(unfinished, Buffer.concat([head, data]), { mode: 0o600, flush: true });
    renameSync(unfinished, file);
    const ours = `hook-${process.version}-${process.arch}-`;
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (name.startsWith(ours) && path !== file) rmSync(path, { force: true });
    }
  } catch {
    // A full or read-only disk: the next process compiles too.
  }
}

launch()
  .catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const place = { env: process.env, nowMs: Date.now() };
    logFault({ where: 'launcher', message }, place);
  })
  .finally(endProcess);
