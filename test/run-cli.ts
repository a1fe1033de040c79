import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';

import type { TerminalStreams } from '../src/cli/terminal/terminal.ts';
import { endWithTest } from './support/end-with-test.ts';

const BUILT = process.env['COXSWAIN_BUILT'];
/** The program `coxswain`: as `scripts/test-programs.ts` bundled it for this run of the tests, else from source. */
export const BIN: string =
  BUILT === undefined ? join(import.meta.dirname, '../src/cli/bin.ts') : join(BUILT, 'cli/bin.js');

/** How a process of the command line ended, and what it wrote. */
export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with each piece of standard output: `close` stops reading; `all` is everything so far. */
  readonly onStdout?: (control: CliControl) => void;
  /** Keeps standard input open, so that a command which reads it waits. */
  readonly holdStdin?: (control: {
    readonly interrupt: () => void;
    readonly write: (text: string, done: () => void) => void;
  }) => void;
}

/** Controls a running CLI process. */
export interface CliControl {
  readonly all: string;
  readonly close: () => void;
  /** Ctrl-C. */
  readonly interrupt: () => void;
}

/** Commands that use the streams of the process, wait for a signal, or are loaded by `bin.ts` itself. */
const OWN_PROCESS = new Set(['hook', 'mcp', 'serve', 'status', 'view', 'watch']);
/** What only the start of a process reads. */
const AT_START = ['NODE_OPTIONS', 'NODE_PATH', 'COXSWAIN_BUILT', 'COXSWAIN_THREADS'];

let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs `coxswain ARGS` as in a separate process without a terminal. A command that only reads and writes runs in the process of the
 * test, from the same bundle, which takes a tenth of the time of a process: until it ends, the folder, the variables and the standard
 * input of the process are its own, and the next one waits.
 */
export function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const { env = {}, onStdout, holdStdin } = options;
  const needsProcess =
    BUILT === undefined ||
    args.some((word) => OWN_PROCESS.has(word)) ||
    onStdout !== undefined ||
    holdStdin !== undefined ||
    AT_START.some((name) => name in env);
  if (needsProcess) return spawnCli(args, options);
  const result = previous.then(() => runInside(join(BUILT, 'cli/main.js'), args, options));
  previous = result.catch(() => undefined);
  return result;
}

async function runInside(
  main: string,
  args: readonly string[],
  { cwd, env = {}, stdin = '' }: CliOptions,
): Promise<CliResult> {
  // The types of the whole program do not go with those of browsers, which some tests need.
  const { runCommand } = (await import(/* @vite-ignore */ main)) as {
    readonly runCommand: (words: readonly string[], streams: TerminalStreams) => Promise<number>;
  };
  const [ownFolder, ownEnv, ownStdin] = [process.cwd(), { ...process.env }, process.stdin];
  const { NO_COLOR: _noColor, FORCE_COLOR: _forceColor, ...inherited } = ownEnv;
  const [stdout, stderr] = [new Collected(), new Collected()];
  try {
    process.chdir(cwd);
    setEnv({ ...inherited, ...env });
    Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(stdin)]), configurable: true });
    const code = await runCommand(args, { stdout, stderr });
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    Object.defineProperty(process, 'stdin', { value: ownStdin, configurable: true });
    setEnv(ownEnv);
    process.chdir(ownFolder);
  }
}

function setEnv(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

/** A stream that keeps what is written. */
class Collected extends Writable {
  readonly #pieces: Buffer[] = [];

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#pieces.push(bytes);
    done();
  }

  text(): string {
    return Buffer.concat(this.#pieces).toString();
  }
}

/** Runs `coxswain ARGS` in a separate process without a terminal. The process ends with the test at the latest. */
export function spawnCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const { NO_COLOR: _noColor, FORCE_COLOR: _forceColor, ...inherited } = process.env;
  const child = spawn(process.execPath, [BIN, ...args], { cwd: options.cwd, env: { ...inherited, ...options.env } });
  endWithTest(child);
  const interrupt = (): void => void child.kill('SIGINT');
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    options.onStdout?.({ all: stdout, close: () => void child.stdout.destroy(), interrupt });
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // A command that does not read its input closes it.
  child.stdin.on('error', () => {});
  if (options.holdStdin === undefined) child.stdin.end(options.stdin ?? '');
  else options.holdStdin({ interrupt, write: (text, done) => void child.stdin.write(text, () => done()) });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** The values of a text of JSON lines. */
export function jsonLines(text: string): readonly Readonly<Record<string, unknown>>[] {
  const lines = text.split('\n').filter((line) => line !== '');
  // Every line of these outputs is an object; a test that meets another fails on its members.
  return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

/** A run of the `calls` form: one failing call again and again, or different calls that all go well. */
export function sampleRun(id: string, kind: 'stuck' | 'fine', calls = 8): string {
  const one = (index: number): unknown =>
    kind === 'stuck'
      ? { tool: 'bash', args: { command: 'make all' }, result: 'make: no rule for target all', isError: true }
      : { tool: 'read_file', args: { path: `src/part-${index}.ts` }, result: `part ${index * 7919}`, isError: false };
  return JSON.stringify({ id, calls: Array.from({ length: calls }, (_, index) => one(index)) });
}

/** An environment whose agent programs keep their sessions below this home. */
export function homeOnly(home: string): Readonly<Record<string, string>> {
  const moved = [
    'CLAUDE_CONFIG_DIR',
    'CODEX_HOME',
    'COPILOT_HOME',
    'GEMINI_CLI_HOME',
    'XDG_DATA_HOME',
    'PI_CODING_AGENT_DIR',
  ];
  return { HOME: home, ...Object.fromEntries(moved.map((name) => [name, ''])) };
}
