import { Buffer } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';

import { CoxswainError } from '../../base/error.ts';
import { isJsonObject } from '../../base/json.ts';
import { hasCode, isMissing } from '../file-system.ts';
import { namesIn, pathOf } from './jsonl-run-files.ts';
import type { RunFiles } from './jsonl-run-files.ts';
import { removeIfThere } from './jsonl-sealed-file.ts';
import { describeHolder } from '../lock-identity.ts';
import type { LockHolder, LockIdentity } from '../lock-identity.ts';
import { writeFully } from '../write-fully.ts';

/** The right to write a run. */
export interface RunLock {
  /**
   * To be called before each write: makes sure of the lock where its last sign of life is old, as after a suspended machine.
   *
   * @returns undefined where that needs no look at the disk; a promise that rejects with CoxswainError `store-io` when a
   *   writer elsewhere took the lock over
   */
  keep(): Promise<void> | undefined;
  /** Ends the signs of life, and leaves the file: for a lock that goes with the folder of its run. */
  end(): void;
  release(): Promise<void>;
}

/** How a lock is taken. */
export interface LockOptions {
  readonly identity: LockIdentity;
  /** How long to wait for another writer, in milliseconds. */
  readonly waitMs: number;
}

const LOCK = /^lock-(\d{8})$/;
const ANY = /^lock-(\d{8})(?:[.]free)?$/;
const UNFINISHED = /^lock-[0-9a-f-]+[.]new$/;
/** A lock without content is one that a power cut emptied, unless it is being made. */
const UNREADABLE_MS = 10_000;
/** How often a holder gives a sign of life. */
const BEAT_MS = 60_000;
/** A holder on another host or in another container that gave none for so long is gone: ten of them missed. */
const FOREIGN_STALE_MS = 10 * BEAT_MS;
const POLL_MS = { min: 1, max: 25 };

/**
 * Takes the lock of a run whose folder exists. Locks are numbered and the highest number counts: who finds it free, or
 * its holder gone, makes the next one, and a file can be made only once, so of several one wins. The name of the
 * highest number is given away by nobody, also when it is released (`.free` is put beside it), so who was slow
 * finds the higher number when looking again.
 *
 * A holder is gone when its process, on this host and since this start of the machine, does not run. A process on another
 * host or in another container cannot be asked: its holder is gone when the lock file was not modified for ten minutes. A
 * holder adds a byte to the file every minute, and looks again before it writes after a longer pause.
 *
 * @throws CoxswainError `store-io` naming the holder when it still has the lock after `waitMs`; what the file system
 *   throws, such as `ENOENT` when the run is deleted meanwhile
 * Cost: about seven small operations on the folder, none synced.
 */
export async function takeRunLock(run: RunFiles, options: LockOptions): Promise<RunLock> {
  const until = Date.now() + options.waitMs;
  for (let pollMs = POLL_MS.min; ; pollMs = Math.min(pollMs * 2, POLL_MS.max)) {
    const taken = await tryLock(run, options.identity);
    if ('release' in taken) return taken;
    const left = until - Date.now();
    if (left <= 0) throw held(run, taken);
    // Several that wait should not come at the same moment.
    await sleep(Math.min(left, pollMs * (0.5 + Math.random())));
  }
}

/** A lock that another one has; `holder` is absent where the file is not readable, or somebody was faster. */
interface Busy {
  readonly name: string;
  readonly holder?: LockHolder;
}

async function tryLock(run: RunFiles, identity: LockIdentity): Promise<RunLock | Busy> {
  const names = await namesIn(run);
  const highest = highestIn(names);
  if (highest > 0 && !names.includes(`${lockName(highest)}.free`)) {
    const busy = await busyLock(run, lockName(highest), identity);
    if (busy !== undefined) return busy;
  }
  const number = highest + 1;
  const name = lockName(number);
  const holder = identity.holder();
  if (!(await makeLock(run, name, holder))) return { name };
  try {
    const seen = await namesIn(run);
    if (highestIn(seen) > number || !(await isStillFree(run, { highest, seen, identity }))) {
      await removeIfThere(run, name);
      return { name };
    }
    for (const old of seen) if (isBefore(old, number)) await removeIfThere(run, old);
  } catch (thrown) {
    // Nobody would ever release it.
    await removeIfThere(run, name).catch(() => undefined);
    throw thrown;
  }
  return heldLock(run, name, holder.token);
}

function heldLock(run: RunFiles, name: string, token: string): RunLock {
  let lastBeatMs = Date.now();
  const beat = async (): Promise<void> => {
    // After a takeover the run may have been deleted and begun again, with a lock of the same name.
    const bytes = await run.fileSystem.readWhole(pathOf(run, name));
    if (readHolder(Buffer.from(bytes).toString())?.token !== token) throw lost(run, name);
    const file = await run.fileSystem.open(pathOf(run, name), 'append');
    try {
      await writeFully(file, Buffer.from('\n'));
    } finally {
      await file.close();
    }
    // Who takes over looks at the sign of life once more after making the next number, so one of the two sees the other.
    if (highestIn(await namesIn(run)) > Number(LOCK.exec(name)?.[1])) throw lost(run, name);
    lastBeatMs = Date.now();
  };
  // A failed sign of life is found out by `keep`, which somebody waits for.
  const beating = setInterval(() => void beat().catch(() => undefined), BEAT_MS).unref();
  return {
    keep: () => {
      if (Math.abs(Date.now() - lastBeatMs) < FOREIGN_STALE_MS / 2) return undefined;
      return beat().catch((thrown: unknown) => {
        throw isMissing(thrown) ? lost(run, name) : thrown;
      });
    },
    end: () => clearInterval(beating),
    release: () => {
      clearInterval(beating);
      return release(run, name);
    },
  };
}

/**
 * Whether the lock before the one that was made is there and nobody's. If not, the run was deleted and begun anew between
 * the two looks, and the lock lies in a folder in which another one may have the run.
 */
async function isStillFree(
  run: RunFiles,
  look: { readonly highest: number; readonly seen: readonly string[]; readonly identity: LockIdentity },
): Promise<boolean> {
  const { highest, seen, identity } = look;
  if (highest === 0 || seen.includes(`${lockName(highest)}.free`)) return true;
  return seen.includes(lockName(highest)) && (await busyLock(run, lockName(highest), identity)) === undefined;
}

/** The lock, unless its holder is gone. */
async function busyLock(run: RunFiles, name: string, identity: LockIdentity): Promise<Busy | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await run.fileSystem.readWhole(pathOf(run, name));
  } catch (thrown) {
    // Its successor removed it just now.
    if (isMissing(thrown)) return { name };
    throw thrown;
  }
  const holder = readHolder(Buffer.from(bytes).toString());
  if (holder !== undefined && !identity.mayBeAlive(holder)) return undefined;
  if (holder !== undefined && holder.host === identity.holder().host) return { name, holder };
  const facts = await run.fileSystem.facts(pathOf(run, name));
  const staleMs = holder === undefined ? UNREADABLE_MS : FOREIGN_STALE_MS;
  if (facts !== undefined && Date.now() - facts.modifiedMs >= staleMs) return undefined;
  return { name, ...(holder !== undefined && { holder }) };
}

/** Makes the lock with its content in one step, so that nobody finds it empty. Answers false when it is there. */
async function makeLock(run: RunFiles, name: string, holder: LockHolder): Promise<boolean> {
  const { fileSystem } = run;
  const unfinished = `lock-${holder.token}.new`;
  const file = await fileSystem.open(pathOf(run, unfinished), 'create');
  try {
    await writeFully(file, Buffer.from(`${JSON.stringify(holder)}\n`));
  } finally {
    await file.close();
  }
  try {
    await fileSystem.link(pathOf(run, unfinished), pathOf(run, name));
    return true;
  } catch (thrown) {
    // Missing: the winner took the unfinished one for left over.
    if (hasCode(thrown, 'EEXIST') || isMissing(thrown)) return false;
    throw thrown;
  } finally {
    // Where it cannot be removed, the next holder does it.
    await removeIfThere(run, unfinished).catch(() => undefined);
  }
}

async function release(run: RunFiles, name: string): Promise<void> {
  const path = pathOf(run, name);
  try {
    await run.fileSystem.link(path, `${path}.free`);
  } catch (thrown) {
    // The folder was deleted, or the lock with it: nothing is held any more.
    if (isMissing(thrown)) return;
    // A full disk has no room for a name. Without its content a lock is free after `UNREADABLE_MS`.
    const file = await run.fileSystem.open(path, 'append');
    try {
      await file.truncate(0);
    } finally {
      await file.close();
    }
  }
}

function lockName(number: number): string {
  return `lock-${String(number).padStart(8, '0')}`;
}

function highestIn(names: readonly string[]): number {
  return names.reduce((highest, name) => Math.max(highest, Number(LOCK.exec(name)?.[1] ?? 0)), 0);
}

/** True for what earlier locks left. */
function isBefore(name: string, number: number): boolean {
  const digits = ANY.exec(name)?.[1];
  return digits === undefined ? UNFINISHED.test(name) : Number(digits) < number;
}

function readHolder(text: string): LockHolder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { host, boot, pid, processStart, token, sinceMs } = value;
  if (typeof host !== 'string' || typeof boot !== 'string' || typeof processStart !== 'string') return undefined;
  if (!Number.isSafeInteger(pid) || typeof token !== 'string' || !Number.isFinite(sinceMs)) return undefined;
  return { host, boot, pid: Number(pid), processStart, token, sinceMs: Number(sinceMs) };
}

function lost(run: RunFiles, name: string): CoxswainError {
  return new CoxswainError(
    'store-io',
    `${run.folder} was taken over by another writer, because this one gave no sign of life for ten minutes; give each writer its own run`,
    { details: { folder: run.folder, lock: name } },
  );
}

function held(run: RunFiles, { name, holder }: Busy): CoxswainError {
  const who = holder === undefined ? 'another writer' : describeHolder(holder);
  return new CoxswainError(
    'store-io',
    `${run.folder} is being written by ${who}; give each writer its own run, or delete ${name} there once that ` +
      'process is surely gone',
    { details: { folder: run.folder, lock: name, ...(holder !== undefined && { holder }) } },
  );
}
