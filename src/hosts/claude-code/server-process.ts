import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { messageOf } from '../../base/error.ts';
import { readGuarded, replaceGuarded } from '../../base/guarded-file.ts';
import { isJsonObject } from '../../base/json.ts';
import { makeStateFolder, stateFile, type Environment } from '../../base/state-places.ts';
import { mayBeAlive, thisProcess, type ProcessIdentity } from '../../base/process-identity.ts';
import { BUILD } from './build.ts';
import { withoutSessionSecrets } from './session-secrets.ts';
import { readServeSettings, type ServeSettings } from './serve-settings.ts';
import { serverHealth, type ServerFacts } from './server-health.ts';

/** How long a person waits for a server that was started and still runs; a busy machine takes its time. */
const START_LIMIT_MS = 60_000;
/** The same where a session waits for it: the server goes on starting, and the next event finds it. */
const HURRIED_START_LIMIT_MS = 3_000;
/** How long one that was told to stop may take; then it is ended. */
const STOP_LIMIT_MS = 6_000;
/** The same where a session waits for it. What is stored is whole in either case. */
const HURRIED_STOP_LIMIT_MS = 2_000;
const POLL_MS = 20;

/** Who serves a project, as it says in the file that it leaves while it runs. */
export interface ServerRecord {
  readonly holder: ProcessIdentity;
  readonly build: string;
}

/** How a server is started. */
interface StartOptions {
  readonly settings: ServeSettings;
  readonly env: NodeJS.ProcessEnv;
  /** Arguments of `coxswain serve run` besides the project. */
  readonly more?: readonly string[];
  /** How long to wait until it answers. Default: a minute. */
  readonly limitMs?: number;
}

/** How a start went. */
export type StartResult =
  | { readonly kind: 'started' | 'running'; readonly facts: ServerFacts }
  | { readonly kind: 'failed'; readonly why: string };

/** Writes down that this process serves the project. @throws what the file system refuses */
export function writeServerRecord(projectFolder: string, env: Environment): void {
  const record: ServerRecord = { holder: thisProcess(), build: BUILD };
  makeStateFolder({ env, projectFolder });
  replaceGuarded(recordFileOf(projectFolder, env), `${JSON.stringify(record)}\n`);
}

/** Takes away what this process wrote down; of another one's it keeps its hands off. */
export function removeServerRecord(projectFolder: string, env: Environment): void {
  if (findServer(projectFolder, env)?.holder.pid === process.pid)
    rmSync(recordFileOf(projectFolder, env), { force: true });
}

/** The process that serves a project; undefined when none does: a file that a dead one left does not count. */
export function findServer(projectFolder: string, env: Environment = process.env): ServerRecord | undefined {
  let record: unknown;
  try {
    record = JSON.parse(readGuarded(recordFileOf(projectFolder, env))?.toString('utf8') ?? 'null');
  } catch {
    // One that was cut off, or is not ours.
    return undefined;
  }
  if (!isRecord(record)) return undefined;
  const { holder } = record;
  // One on another host, or in another container, is none for whoever calls the loopback address of this one.
  return holder.host === thisProcess().host && mayBeAlive(holder) ? record : undefined;
}

/**
 * Starts the server of a project where none is, for a hook.
 *
 * @param renew  replaces a server of another version, and one that is there and does not answer
 * @returns what is wrong, if anything; never rejects
 * Cost: a request, where one answers.
 */
export async function ensureServer(
  projectFolder: string,
  { env, renew }: { readonly env: NodeJS.ProcessEnv; readonly renew: boolean },
): Promise<string | undefined> {
  try {
    const settings = readServeSettings(projectFolder, env);
    if (settings === undefined) return undefined;
    const health = await serverHealth(settings);
    if (health.kind === 'ours' && (!renew || health.facts.build === BUILD)) return undefined;
    // It may only be slow: what it has to do would be lost.
    if (health.kind === 'none' && health.isSilent === true && !renew) return `the server is silent: ${health.why}`;
    if (health.kind !== 'foreign') await stopServer(projectFolder, { limitMs: HURRIED_STOP_LIMIT_MS, env });
    const result = await startServer(projectFolder, { settings, env, limitMs: HURRIED_START_LIMIT_MS });
    return result.kind === 'failed' ? result.why : undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Starts the server of a project as a process of its own, which outlives this one, and waits until it answers. Where it
 * answers already, nothing is started.
 */
export async function startServer(
  projectFolder: string,
  { settings, env, more = [], limitMs = START_LIMIT_MS }: StartOptions,
): Promise<StartResult> {
  const before = await serverHealth(settings);
  if (before.kind === 'ours') return { kind: 'running', facts: before.facts };
  if (before.kind === 'foreign') {
    return { kind: 'failed', why: `something else is at port ${settings.port}: ${before.why}` };
  }
  const { spawn } = process.getBuiltinModule('node:child_process');
  const [command = process.execPath, ...args] = settings.program;
  const child = spawn(command, [...args, 'serve', 'run', '--project', projectFolder, ...more], {
    cwd: projectFolder,
    env: withoutSessionSecrets({ ...env, CLAUDE_PROJECT_DIR: projectFolder }),
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  });
  let why: string | undefined;
  child.on('error', (error) => (why = `the server did not start: ${error.message}`));
  child.on(
    'exit',
    (code) => (why = `the server ended at once with code ${String(code)}; coxswain doctor may tell why`),
  );
  child.unref();
  const untilMs = Date.now() + limitMs;
  for (;;) {
    const health = await serverHealth(settings);
    // Two that were started at once: one has the port, and the other one leaves.
    if (health.kind === 'ours') return { kind: 'started', facts: health.facts };
    if (why !== undefined) return { kind: 'failed', why };
    if (Date.now() > untilMs) {
      return { kind: 'failed', why: `the server did not answer in ${limitMs / 1000} seconds: ${health.why}` };
    }
    await sleep(POLL_MS);
  }
}

/**
 * Stops the server of a project: asks it to, and ends it where it does not answer.
 *
 * @returns false when none was running
 */
export async function stopServer(
  projectFolder: string,
  { limitMs = STOP_LIMIT_MS, env = process.env }: { readonly limitMs?: number; readonly env?: Environment } = {},
): Promise<boolean> {
  const record = findServer(projectFolder, env);
  if (record === undefined) {
    rmSync(recordFileOf(projectFolder, env), { force: true });
    return false;
  }
  const { pid } = record.holder;
  signal(pid, 'SIGTERM');
  const untilMs = Date.now() + limitMs;
  while (mayBeAlive(record.holder)) {
    if (Date.now() > untilMs) {
      signal(pid, 'SIGKILL');
      break;
    }
    await sleep(POLL_MS);
  }
  rmSync(recordFileOf(projectFolder, env), { force: true });
  return true;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself meanwhile.
  }
}

function recordFileOf(projectFolder: string, env: Environment): string {
  return stateFile('serverRecord', { env, projectFolder });
}

function isRecord(value: unknown): value is ServerRecord {
  if (!isJsonObject(value) || typeof value['build'] !== 'string') return false;
  const { holder } = value;
  return (
    isJsonObject(holder) &&
    Number.isInteger(holder['pid']) &&
    Number(holder['pid']) > 0 &&
    ['host', 'boot', 'processStart'].every((name) => typeof holder[name] === 'string')
  );
}
