import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { projectStoreFile } from '../../src/core/node/git-folder.ts';
import { countSpills } from '../../src/hosts/claude-code/spilled-events.ts';
import { openSqliteReader } from '../../src/stores/sqlite/sqlite-reader.ts';
import { BIN } from '../run-cli.ts';
import { loggedFaults } from '../user-state.ts';
import { changes, SECRET, type Sandbox } from './sandbox.ts';
import type { Step, Trick } from './trick.ts';

const SESSION = 's1';

/** How a process ended, and what it wrote. */
interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The programs that run in a hostile repository. */
export interface Defender {
  readonly hookFile: string;
  /** Steps in addition to the common ones and those of the trick. */
  readonly also: readonly Step[];
  readonly endWithTest: (child: ChildProcess) => void;
}

const BASE: readonly Step[] = ['session', ['doctor', '--json']];

/**
 * Meets a repository with sessions and commands, and looks after each whether anything outside of the project changed, a program
 * ran, something of the user's private files was printed, a process crashed, or an escape reached the terminal.
 *
 * @returns what went wrong, a sentence each
 */
export async function attack(trick: Trick, place: Sandbox, defender: Defender): Promise<readonly string[]> {
  await trick.make(place);
  const cwd = trick.cwd?.(place) ?? place.project;
  const outside = place.outside();
  const inside = place.inside();
  const found: string[] = [];
  const met: Met = { place, cwd, defender, found, isFolderGone: trick.isFolderGone === true };
  const output: string[] = [];
  for (const step of [...BASE, ...defender.also, ...(trick.also ?? [])]) {
    if (typeof step === 'string') await takeSession(met);
    else if (typeof step === 'function') step(place);
    else if ('event' in step) await hook(met, step.event);
    else output.push(await runCommand(met, step));
    const name = JSON.stringify(step) ?? 'the repository';
    for (const path of changes(outside, place.outside())) found.push(`${name} changed ${path}`);
    // Stops here, so later steps do not report the same damage again.
    if (found.length > 0) return found;
  }
  for (const path of changes(inside, place.inside())) {
    if (trick.writes?.test(path) !== true) found.push(`${path} in the project changed`);
  }
  const left = readdirSync(join(place.root, 'temp'));
  if (left.length > 0) found.push(`temporary files are left: ${left.join(', ')}`);
  const faults = loggedFaults({ project: cwd, env: place.env });
  const reported = `${faults}\n${output.join('\n')}`;
  if (trick.loud !== undefined && !trick.loud.test(reported))
    found.push(`nothing says ${trick.loud.source}:\n${reported}`);
  if (faults.includes(SECRET)) found.push('the log of faults holds what is in a private file');
  if (trick.isRecorded !== false && !(await isRecorded(met))) found.push(`the session is not on record:\n${reported}`);
  return found;
}

interface Met {
  readonly place: Sandbox;
  readonly cwd: string;
  readonly defender: Defender;
  readonly found: string[];
  readonly isFolderGone: boolean;
}

async function takeSession(met: Met): Promise<void> {
  const call = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'c1' };
  const answer = { tool_response: { stdout: 'a.ts', stderr: '' } };
  await hook(met, { hook_event_name: 'SessionStart', source: 'startup' });
  await hook(met, { hook_event_name: 'PreToolUse', ...call });
  await hook(met, { hook_event_name: 'PostToolUse', ...call, ...answer });
  await hook(met, { hook_event_name: 'Stop' });
}

async function hook(met: Met, event: Readonly<Record<string, unknown>>): Promise<void> {
  const { cwd, defender } = met;
  const input = JSON.stringify({ session_id: SESSION, cwd, ...event });
  const { code, stderr, stdout } = await runProcess(met, { args: [defender.hookFile], stdin: input, cwd });
  const name = `the hook at ${String(event['hook_event_name'])}`;
  if (code !== 0 || stderr !== '') met.found.push(`${name} ended with code ${code}: ${stderr}`);
  lookAt(met, name, stdout === '' ? '' : textOf(JSON.parse(stdout)));
}

/** @returns the problems found */
async function runCommand(met: Met, args: readonly string[]): Promise<string> {
  const name = `coxswain ${args.join(' ')}`;
  const ended = await runProcess(met, { args: [BIN, ...args], stdin: '', cwd: met.cwd, isViewer: args[0] === 'view' });
  // A signal or an uncaught exception.
  const hasCrashed = ended.code === null || ended.code > 2 || /^\s+at .+:\d+:\d+\)?$/m.test(ended.stderr);
  if (hasCrashed) met.found.push(`${name} ended with code ${ended.code}: ${ended.stderr}`);
  lookAt(met, name, ended.stdout + ended.stderr);
  if (args[0] !== 'doctor' || ended.stdout === '') return ended.stderr;
  // The command's own answer; another form fails here.
  const { lines } = JSON.parse(ended.stdout) as { readonly lines: readonly { readonly status: string }[] };
  return JSON.stringify(lines.filter(({ status }) => status !== 'pass'));
}

/** Nothing in a text acts on a terminal, also by turning the direction of writing, and nothing is from the user's private files. */
function lookAt({ found }: Met, name: string, text: string): void {
  if (text.includes(SECRET)) found.push(`${name} shows what is in a private file`);
  const [sign] = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.exec(text) ?? [];
  if (sign !== undefined) found.push(`${name} shows ${JSON.stringify(sign)}: ${JSON.stringify(text.slice(0, 2_000))}`);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? Object.values(value).map(textOf).join('\n') : '';
}

interface Process {
  readonly args: readonly string[];
  readonly stdin: string;
  readonly cwd: string;
  /** Ended with Ctrl-C once it listens. */
  readonly isViewer?: boolean;
}

function runProcess({ defender, isFolderGone, place }: Met, { args, stdin, cwd, isViewer }: Process): Promise<Ended> {
  const env = { ...place.env, CLAUDE_PROJECT_DIR: cwd };
  mkdirSync(cwd, { recursive: true });
  const child = isFolderGone
    ? spawn('sh', ['-c', 'rm -r "$0" && exec "$@"', cwd, process.execPath, ...args], { cwd, env })
    : spawn(process.execPath, args, { cwd, env });
  defender.endWithTest(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (isViewer === true && stdout.includes('Ctrl-C')) child.kill('SIGINT');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // A process that does not read its input closes it.
  child.stdin.on('error', () => {}).end(stdin);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Whether the call of the session is in the store of the project, or waits beside it. */
async function isRecorded({ cwd, place: { env, project } }: Met): Promise<boolean> {
  for (const store of new Set([cwd, project].map((folder) => projectStoreFile(folder, { env }))))
    if (countSpills(store).waiting > 0 || (await hasCall(store))) return true;
  return false;
}

async function hasCall(path: string): Promise<boolean> {
  try {
    const store = openSqliteReader(path, { timeoutMs: 0 });
    try {
      for await (const { payload } of store.readRun(SESSION)) if (payload.kind === 'tool_ended') return true;
      return false;
    } finally {
      await store.close();
    }
  } catch {
    // Refused, as by the hook.
    return false;
  }
}
