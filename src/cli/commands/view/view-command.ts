import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { BUILD_HASH } from '../../../core/node/build-hash.ts';
import { cacheRoot } from '../../../core/node/state-places.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { jsonOf, present } from '../../../core/base/json.ts';
import type { Lesson } from '../../../core/facts/lessons.ts';
import { invalidArgument } from '../../../core/base/error.ts';
import { ONCE_MS } from '../../../viewer/server/sessions.ts';
import { startViewer, type ViewerOptions } from '../../../viewer/server/start-viewer.ts';
import { completeProjects } from '../../runs/complete-project.ts';
import { machineStores, openMachineStores } from '../../runs/machine-stores.ts';
import { machineSessions, requireStore, storeNamed } from '../../runs/open-store.ts';
import { killedSessions } from '../../runs/run-standing.ts';
import { wholeOption } from '../../terminal/option-values.ts';
import { numberedRun, sessionNamed, type NumberedRun } from '../../runs/numbered-runs.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface ViewOptions {
  readonly port?: string;
  readonly open?: boolean;
  readonly labels?: string;
  readonly run?: string;
  readonly call?: string;
  readonly project?: string;
}

const MAX_SESSIONS = 1_000;

/**
 * Runs `coxswain view`: serves runs as web pages to this machine only and opens them in a browser. Ends at Ctrl-C or SIGTERM.
 *
 * @param namedPaths  stores, files, folders or globs, or the number or the id of one run; default: the stores of this user's projects, and the sessions of this user's agent programs
 * @returns the exit code
 * @throws CoxswainError `invalid-argument`, and the errors of `startViewer`
 */
export async function viewCommand(
  namedPaths: readonly string[],
  namedOptions: ViewOptions,
  terminal: Terminal,
): Promise<number> {
  const [name] = namedPaths;
  const found = namedPaths.length === 1 && name !== undefined ? await runNamed(name) : undefined;
  const paths = found === undefined ? namedPaths : [found.path];
  const options = found === undefined ? namedOptions : { run: found.id, ...namedOptions };
  if (paths.includes('-')) throw invalidArgument('standard input cannot be viewed: save it to a file first');
  const port = wholeOption('--port', options.port, [0, 65_535]);
  const selectPage = pageSelector(options);
  if (paths.length === 0) await completeProjects();
  const sources = paths.length > 0 ? { paths } : await machineSources(options, terminal);
  const source = paths.length === 0 && options.run !== undefined ? await sourceOf(options.run, terminal) : 0;
  const pageOf = (url: string): string => selectPage(url, source);
  const machineArgs = ['--since', '30d', ...(options.project === undefined ? [] : ['--project', options.project])];
  const failureArgs = namedPaths.length === 0 ? machineArgs : ['--', ...paths];
  const stop = new AbortController();
  const viewer = await startViewer({
    ...sources,
    // Code that was not built may change at any time.
    ...(BUILD_HASH === undefined ? {} : { cacheFolder: cacheRoot({ env: process.env }) }),
    isKilled: await killedSessions(),
    failing: failuresReader(failureArgs, stop.signal),
    ...present({ port, labels: options.labels }),
  });
  let redirect: RedirectFile | undefined;
  try {
    const interruption = untilInterrupted(terminal);
    await terminal.write(
      `${pageOf(viewer.url)}\nKeep this address private: anyone who has it can see the runs. Ctrl-C ends it.\n`,
    );
    if (options.open !== false) redirect = await writeRedirectFile(pageOf(viewer.urlOnce()));
    if (redirect !== undefined && !(await openBrowser(pathToFileURL(redirect.path).href))) {
      terminal.complain('coxswain: no browser could be opened; open the address yourself');
    }
    // Deletes the redirect when the token in it expires.
    setTimeout(() => void redirect?.dispose(), ONCE_MS).unref();
    await interruption;
  } finally {
    stop.abort();
    await redirect?.dispose();
    await viewer.close();
  }
  return 0;
}

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const ANSWER_AGE_MS = 60_000;

/** In a separate process, because a first reading takes long. An answer is kept for a minute; a failure gives none. */
function failuresReader(args: readonly string[], signal: AbortSignal): () => Promise<readonly Lesson[]> {
  const [, bin = ''] = process.argv;
  let known: { readonly atMs: number; readonly lessons: Promise<readonly Lesson[]> } | undefined;
  const read = async (): Promise<readonly Lesson[]> => {
    const text = await new Promise<string>((resolve) => {
      const command = [bin, 'failures', '--json', ...args];
      execFile(process.execPath, command, { maxBuffer: MAX_ANSWER_BYTES, signal }, (_error, stdout) => resolve(stdout));
    });
    // `failures --json` writes lessons, one a line.
    return text.split('\n').flatMap((line) => (jsonOf(line) ?? []) as unknown as Lesson | readonly []);
  };
  return () => {
    const nowMs = systemClock.nowMs();
    if (known === undefined || nowMs - known.atMs > ANSWER_AGE_MS) known = { atMs: nowMs, lessons: read() };
    return known.lessons;
  };
}

/** Returns the run with this number in the last report, or this beginning of its id. A file of this name comes first. */
async function runNamed(name: string): Promise<NumberedRun | undefined> {
  if (!/^[\w-]+$/.test(name) || existsSync(name)) return undefined;
  return numberedRun(name) ?? (await sessionNamed(name));
}

/** @throws CoxswainError as `requireStore`, if there is neither a store nor a session */
async function machineSources(
  { project }: ViewOptions,
  terminal: Terminal,
): Promise<Pick<ViewerOptions, 'paths' | 'sessions'>> {
  const stores = machineStores({ project }, terminal);
  const hosts = machineSessions();
  const sessions = hosts
    .flatMap((host) => host.sessions)
    .toSorted((a, b) => b.modifiedAtMs - a.modifiedAtMs)
    .slice(0, MAX_SESSIONS);
  if (stores.length === 0 && (sessions.length === 0 || project !== undefined))
    await requireStore(
      storeNamed(undefined),
      project === undefined
        ? 'this machine has no session of an agent program either; coxswain demo records a sample run'
        : undefined,
    );
  return { paths: stores.map(({ address }) => address), ...(project === undefined ? { sessions } : {}) };
}

async function sourceOf(runId: string, terminal: Terminal): Promise<number> {
  const stores = machineStores({});
  if (stores.length <= 1) return 0;
  const reader = await openMachineStores({}, terminal);
  try {
    const store = await reader.storeOf(runId);
    const place = stores.findIndex(({ address }) => address === store?.address);
    return Math.max(0, place);
  } finally {
    await reader.close();
  }
}

function pageSelector({ call, run }: ViewOptions): (url: string, source: number) => string {
  if (call !== undefined && run === undefined) throw invalidArgument('--call needs --run');
  wholeOption('--call', call, [1, 999_999_999]);
  if (run === undefined) return (url) => url;
  return (url, source) => {
    const place = { source: String(source), run, ...present({ call }) };
    return url.replace('/#', `/?${String(new URLSearchParams(place))}#`);
  };
}

async function untilInterrupted(terminal: Terminal): Promise<void> {
  await new Promise<void>((resolve) => {
    terminal.onInterrupt(resolve);
    process.once('SIGTERM', resolve);
  });
}

/** Starts no shell. All users of the machine can read the address. Returns false if no program is available. */
export async function openBrowser(url: string, platform: NodeJS.Platform = process.platform): Promise<boolean> {
  const [program, ...args] = OPENERS[platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true, windowsHide: true });
  return await new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // `start` is a command of the shell, not a program.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

export interface RedirectFile {
  readonly path: string;
  dispose(): Promise<void>;
}

/** For this user only. A browser starts with the path, because the address has a token and arguments of processes are public. */
export async function writeRedirectFile(url: string): Promise<RedirectFile> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-open-'));
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const path = join(folder, 'open.html');
  const escapedUrl = url.replaceAll('&', '&amp;');
  const page = `<!doctype html><meta charset="utf-8"><title>coxswain</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${escapedUrl}">
<p><a href="${escapedUrl}">Open the viewer</a></p>
`;
  try {
    await writeFile(path, page, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    await dispose();
    throw error;
  }
  return { path, dispose };
}
