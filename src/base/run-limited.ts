import { spawn } from 'node:child_process';

/** A process to run for a short time. */
export interface LimitedProcess {
  /** With `args` undefined, a line for the shell. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
  readonly limitMs: number;
}

/** How it went. */
export interface LimitedResult {
  /** Null when a signal ended it, or it did not start. */
  readonly code: number | null;
  /** The first 64 KB of each. */
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
  /** It took too long, and was ended with what it had started. */
  readonly timedOut: boolean;
  /** Why it did not start. */
  readonly error?: string;
}

const MAX_OUTPUT_CHARS = 64 * 1024;

/** Runs a process and waits for its end, for `limitMs` at most. Never rejects and never waits longer. */
export async function runLimited(process_: LimitedProcess): Promise<LimitedResult> {
  const { command, args, cwd, env, stdin = '', limitMs } = process_;
  const startMs = performance.now();
  return new Promise((resolve) => {
    let stdout = '';
    let stderr = '';
    const finish = (rest: Pick<LimitedResult, 'code' | 'timedOut' | 'error'>): void => {
      clearTimeout(timer);
      resolve({ stdout, stderr, durationMs: performance.now() - startMs, ...rest });
    };
    // A group of its own, so that what it started ends with it.
    const options = { cwd, env: { ...env }, detached: process.platform !== 'win32' };
    const child = spawn(command, args === undefined ? [] : [...args], { ...options, shell: args === undefined });
    const timer = setTimeout(() => {
      endGroup(child.pid);
      // What left the group may hold the pipes.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      child.unref();
      finish({ code: null, timedOut: true });
    }, limitMs);
    child.stdout
      .setEncoding('utf8')
      .on('data', (text: string) => (stdout = (stdout + text).slice(0, MAX_OUTPUT_CHARS)));
    child.stderr
      .setEncoding('utf8')
      .on('data', (text: string) => (stderr = (stderr + text).slice(0, MAX_OUTPUT_CHARS)));
    // A process that does not read its input closes it.
    child.stdin.on('error', () => undefined).end(stdin);
    child.on('error', (error) => finish({ code: null, timedOut: false, error: error.message }));
    child.on('close', (code) => finish({ code, timedOut: false }));
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has ended by itself meanwhile.
  }
}
