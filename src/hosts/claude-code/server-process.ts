import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { messageOf } from '../../core/base/error.ts';
import { readGuarded, replaceGuarded } from '../../core/node/guarded-file.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { makeStateFolder, stateFile, type Environment } from '../../core/node/state-places.ts';
import { mayBeAlive, thisProcess, type ProcessIdentity } from '../../core/node/process-identity.ts';
import { BUILD } from './build.ts';
import { withoutSessionSecrets } from './session-secrets.ts';
import { readServeSettings, type ServeSettings } from './serve-settings.ts';
import { serverHealth, type ServerFacts } from './server-health.ts';

/** Timeout for a start from the command line. It is long because the machine may be busy. */
const START_LIMIT_MS = 60_000;
/** Timeout for a start from a hook. The server continues to start after it, and the next event finds it. */
const HURRIED_START_LIMIT_MS = 3_000;
/** Timeout for a stop. After it the process is killed, which loses no stored data. */
const STOP_LIMIT_MS = 6_000;
/** Timeout for a stop from a hook. */
const HURRIED_STOP_LIMIT_MS = 2_000;
const POLL_MS = 20;

/** Content of the file that a running server writes about itself. */
export interface ServerRecord {
  readonly holder: ProcessIdentity;
  readonly build: string;
}

interface StartOptions {
  readonly settings: ServeSettings;
  readonly env: NodeJS.ProcessEnv;
  /** Additional arguments of `coxswain serve run`, after the project. */
  readonly more?: readonly string[];
  /** Timeout for an answer; default: one minute. */
  readonly limitMs?: number;
}

export type StartResult =
  | { readonly kind: 'started' | 'running'; readonly facts: ServerFacts }
  | { readonly kind: 'failed'; readonly why: string };

/**
 * Records that this process is the server of the project.
 *
 * @throws a file system error
 */
export function writeServerRecord(projectFolder: string, env: Environment): void {
  const record: ServerRecord = { holder: thisProcess(), build: BUILD };
  makeStateFolder({ env, projectFolder });
  replaceGuarded(recordFileOf(projectFolder, env), `${JSON.stringify(record)}\n`);
}

/** Removes the server record if this process wrote it. */
export function removeServerRecord(projectFolder: string, env: Environment): void {
  if (findServer(projectFolder, env)?.holder.pid === process.pid)
    rmSync(recordFileOf(projectFolder, env), { force: true });
}

/** Returns the record of the process that serves a project. Undefined without such a process. The record of a dead process is ignored. */
export function findServer(projectFolder: string, env: Environment = process.env): ServerRecord | undefined {
  let record: unknown;
  try {
    record = JSON.parse(readGuarded(recordFileOf(projectFolder, env))?.toString('utf8') ?? 'null');
  } catch {
    // The file is truncated, or another program wrote it.
    return undefined;
  }
  if (!isRecord(record)) return undefined;
  const { holder } = record;
  // A server on another machine or in another container is not reachable at this loopback address.
  return holder.host === thisProcess().host && mayBeAlive(holder) ? record : undefined;
}

/**
 * Starts the server of a project for a hook, unless the server is running.
 *
 * @param renew  replaces a server of another version, and a server that does not answer
 * @returns the problem, if any; never rejects Cost: one request if the server is running.
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
    // The server may only be slow, and a restart would lose its requests.
    if (health.kind === 'none' && health.isSilent === true && !renew)
      return `the server does not respond: ${health.why}`;
    if (health.kind !== 'foreign') await stopServer(projectFolder, { limitMs: HURRIED_STOP_LIMIT_MS, env });
    const result = await startServer(projectFolder, { settings, env, limitMs: HURRIED_START_LIMIT_MS });
    return result.kind === 'failed' ? result.why : undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Starts the server of a project as a detached process and waits until it answers. Starts nothing if a server already answers. */
export async function startServer(
  projectFolder: string,
  { settings, env, more = [], limitMs = START_LIMIT_MS }: StartOptions,
): Promise<StartResult> {
  const healthBefore = await serverHealth(settings);
  if (healthBefore.kind === 'ours') return { kind: 'running', facts: healthBefore.facts };
  if (healthBefore.kind === 'foreign') {
    return { kind: 'failed', why: `another program uses port ${settings.port}: ${healthBefore.why}` };
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
  let reason: string | undefined;
  child.on('error', (error) => (reason = `the server did not start: ${error.message}`));
  child.on(
    'exit',
    (code) => (reason = `the server exited at once with code ${String(code)}; run coxswain doctor for the cause`),
  );
  child.unref();
  const untilMs = Date.now() + limitMs;
  for (;;) {
    const health = await serverHealth(settings);
    if (health.kind === 'ours') {
      if (health.facts.pid === child.pid) return { kind: 'started', facts: health.facts };
      // Another start was faster. This process would serve as soon as that server is stopped.
      child.kill();
      return { kind: 'running', facts: health.facts };
    }
    if (reason !== undefined) return { kind: 'failed', why: reason };
    if (Date.now() > untilMs) {
      return { kind: 'failed', why: `the server did not respond in ${limitMs / 1000} seconds: ${health.why}` };
    }
    await sleep(POLL_MS);
  }
}

/**
 * Stops the server of a project. Kills the process if it does not stop.
 *
 * @returns false if no server was running
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
  sendSignal(pid, 'SIGTERM');
  const untilMs = Date.now() + limitMs;
  while (mayBeAlive(record.holder)) {
    if (Date.now() > untilMs) {
      sendSignal(pid, 'SIGKILL');
      break;
    }
    await sleep(POLL_MS);
  }
  rmSync(recordFileOf(projectFolder, env), { force: true });
  return true;
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has exited.
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
