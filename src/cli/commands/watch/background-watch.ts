import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { extname, parse } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CoxswainError, hasCode } from '../../../core/base/error.ts';
import { isJsonObject, type Json, jsonOf } from '../../../core/base/json.ts';
import { readGuarded, replaceGuarded } from '../../../core/node/guarded-file.ts';
import { makeStateFolder, stateFile } from '../../../core/node/state-places.ts';
import type { NotifyEvent } from '../../../hosts/notify/notification.ts';
import type { PendingNotification, SentKey } from '../../../hosts/notify/notifier.ts';

interface ProcessIdentity {
  readonly host: string;
  readonly boot: string;
  readonly pid: number;
  readonly processStart: string;
}

let ownIdentity: ProcessIdentity | undefined;

export function thisProcess(): ProcessIdentity {
  ownIdentity ??= {
    host: [hostname(), pidNamespace()].filter((part) => part !== '').join(' '),
    boot: textOf('/proc/sys/kernel/random/boot_id').trim(),
    pid: process.pid,
    processStart: processFacts(process.pid).start,
  };
  return ownIdentity;
}

/** False if the process has certainly ended. One on another host or in another container may be alive. */
export function mayBeAlive({ host, boot, pid, processStart }: ProcessIdentity): boolean {
  const current = thisProcess();
  // A signal to pid 0 or below addresses a process group.
  if (!(Number.isInteger(pid) && pid > 0 && pid < 2 ** 31)) return false;
  if (host !== current.host) return true;
  if (boot !== current.boot || !isRunning(pid)) return false;
  const { start, state } = processFacts(pid);
  // A zombie keeps its pid until its parent reaps it. In a container that may never happen.
  if (state === 'Z' || state === 'X') return false;
  return start === '' || processStart === '' || start === processStart;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    // The process exists but belongs to another user.
    return hasCode(thrown, 'EPERM');
  }
}

/** Fields 3 and 22 of `/proc/PID/stat`, counted from the end of the process name, which may contain any characters. */
function processFacts(pid: number): { readonly state: string; readonly start: string } {
  const stat = textOf(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields.at(0) ?? '', start: fields.at(19) ?? '' };
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // Only Linux has this file.
    return '';
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Only Linux has this file.
    return '';
  }
}

/** With this variable, `bin.ts` runs the watch itself. */
const IN_BACKGROUND = 'COXSWAIN_IN_BACKGROUND';
/**
 * Options of Node and of the memory of the C library for a process that is small rather than fast: 59 instead of 101 MB with 20 active
 * sessions. Without room in the old space, V8 collects the whole heap of 11 MB every three seconds: a quarter of the work. A process that
 * does not begin with Node's snapshot has 2.5 MB less and starts 0.1 s later.
 */
const SMALL = [
  '--lite-mode',
  '--max-semi-space-size=1',
  '--initial-old-space-size=20',
  '--max-old-space-size=64',
  '--no-node-snapshot',
];
const SMALL_ENV = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '65536', MALLOC_TOP_PAD_: '0' };
const START_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 10_000;
const POLL_MS = 50;
const OWNER = { env: process.env };

interface WatchRecord {
  readonly holder: ProcessIdentity;
  /** Everything that happened before was seen. */
  readonly aliveAtMs: number;
  readonly sent: readonly SentKey[];
  readonly pending: readonly PendingNotification[];
}

type BackgroundWatch =
  | { readonly state: 'never' }
  | { readonly state: 'running'; readonly pid: number }
  | { readonly state: 'ended'; readonly sinceMs: number };

export function findBackgroundWatch(): BackgroundWatch {
  const record = readRecord();
  if (record === undefined) return { state: 'never' };
  return isHere(record.holder)
    ? { state: 'running', pid: record.holder.pid }
    : { state: 'ended', sinceMs: record.aliveAtMs };
}

/** The process of the watch in the background. */
export function watchProgram(): {
  readonly args: readonly [program: string, ...args: string[]];
  readonly env: Readonly<Record<string, string>>;
} {
  const bin = fileURLToPath(new URL(`../../bin${extname(import.meta.url)}`, import.meta.url));
  return {
    args: [process.execPath, ...SMALL, bin, 'watch', '--background'],
    env: { ...SMALL_ENV, [IN_BACKGROUND]: '1' },
  };
}

/** @throws CoxswainError `store-io` if it does not start */
export async function startBackgroundWatch(): Promise<number> {
  const running = findBackgroundWatch();
  if (running.state === 'running') return running.pid;
  const { args, env } = watchProgram();
  const child = spawn(args[0], args.slice(1), {
    cwd: existsSync(homedir()) ? homedir() : parse(process.cwd()).root,
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, ...env },
  });
  const faults: string[] = [];
  child.on('error', (error) => faults.push(error.message));
  child.unref();
  for (
    let waitedMs = 0;
    waitedMs < START_LIMIT_MS && child.exitCode === null && faults.length === 0;
    waitedMs += POLL_MS
  ) {
    const found = findBackgroundWatch();
    if (found.state === 'running') return found.pid;
    await sleep(POLL_MS);
  }
  const [why = 'coxswain doctor may show why'] = faults;
  throw new CoxswainError('store-io', `the watch did not start in the background: ${why}`);
}

export async function stopBackgroundWatch(): Promise<boolean> {
  const found = findBackgroundWatch();
  if (found.state !== 'running') return false;
  process.kill(found.pid, 'SIGTERM');
  for (let waitedMs = 0; waitedMs < STOP_LIMIT_MS; waitedMs += POLL_MS) {
    if (findBackgroundWatch().state !== 'running') return true;
    await sleep(POLL_MS);
  }
  throw new CoxswainError('store-io', `the watch (process ${found.pid}) did not stop`);
}

/** True for a process that runs on this machine. That of another one, whose home is shared, is neither waited for nor stopped. */
function isHere(holder: ProcessIdentity): boolean {
  return holder.host === thisProcess().host && mayBeAlive(holder);
}

export class BackgroundRecord {
  readonly aliveBeforeMs: number | undefined;
  #state: Pick<WatchRecord, 'aliveAtMs' | 'sent' | 'pending'>;

  /** @param nowMs  what happened before is no news if no watch ran before */
  constructor(nowMs: number) {
    const before = readRecord();
    this.aliveBeforeMs = before?.aliveAtMs;
    this.#state = before ?? { aliveAtMs: nowMs, sent: [], pending: [] };
  }

  get sent(): readonly SentKey[] {
    return this.#state.sent;
  }
  get pending(): readonly PendingNotification[] {
    return this.#state.pending;
  }

  /** Writes the record. Returns false if another process has become the watch. */
  keep(change: Partial<Pick<WatchRecord, 'aliveAtMs' | 'sent' | 'pending'>> = {}): boolean {
    this.#state = { ...this.#state, ...change };
    const holder = readRecord()?.holder;
    if (holder !== undefined && holder.pid !== process.pid && isHere(holder)) return false;
    makeStateFolder(OWNER);
    const { aliveAtMs, pending, sent } = this.#state;
    const record: WatchRecord = { holder: thisProcess(), aliveAtMs, sent, pending };
    replaceGuarded(stateFile('watch', OWNER), JSON.stringify(record));
    return true;
  }
}

function readRecord(): WatchRecord | undefined {
  const bytes = readGuarded(stateFile('watch', OWNER));
  const value = bytes === undefined ? undefined : jsonOf(bytes.toString('utf8'));
  const { aliveAtMs, holder, pending, sent } = isJsonObject(value) ? value : {};
  if (!isJsonObject(holder) || typeof aliveAtMs !== 'number' || !Array.isArray(sent)) return undefined;
  const { boot, host, pid, processStart } = holder;
  if (typeof pid !== 'number' || typeof host !== 'string') return undefined;
  if (typeof boot !== 'string' || typeof processStart !== 'string') return undefined;
  const keys = sent.flatMap((one): readonly SentKey[] => {
    const [key, atMs] = Array.isArray(one) ? one : [];
    return typeof key === 'string' && typeof atMs === 'number' ? [[key, atMs]] : [];
  });
  return { holder: { boot, host, pid, processStart }, aliveAtMs, sent: keys, pending: pendingIn(pending) };
}

function pendingIn(value: Json | undefined): readonly PendingNotification[] {
  return (Array.isArray(value) ? value : []).flatMap((one): readonly PendingNotification[] => {
    const { event, isBegun, message, run } = isJsonObject(one) ? one : {};
    if (typeof event !== 'string' || typeof message !== 'string' || typeof run !== 'string') return [];
    // Only a notifier writes the file, with its own events.
    return [{ event: event as NotifyEvent, message, run, isBegun: isBegun === true }];
  });
}
