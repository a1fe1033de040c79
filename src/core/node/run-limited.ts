import { spawn } from 'node:child_process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { steadyMs } from '../base/clock.ts';

interface LimitedProcess {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
  readonly limitMs: number;
}

interface LimitedResult {
  /** The exit code. Null if a signal ended the process, or if it did not start. */
  readonly code: number | null;
  /** The first 64 KB of each stream. */
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
  readonly timedOut: boolean;
  readonly error?: string;
}

const MAX_OUTPUT_CHARS = 64 * 1024;

/** Runs a process for at most `limitMs`. Never rejects. */
export async function runLimited(process_: LimitedProcess): Promise<LimitedResult> {
  const { command, args, cwd, env, stdin = '', limitMs } = process_;
  const startMs = performance.now();
  return new Promise((resolve) => {
    let stdout = '';
    let stderr = '';
    const finishRun = (rest: Pick<LimitedResult, 'code' | 'timedOut' | 'error'>): void => {
      clearTimeout(timer);
      resolve({ stdout, stderr, durationMs: performance.now() - startMs, ...rest });
    };
    // The process has its own process group, so that its child processes can be killed with it.
    const options = { cwd, env: { ...env }, detached: process.platform !== 'win32' };
    const child = spawn(command, args === undefined ? [] : [...args], { ...options, shell: args === undefined });
    const timer = setTimeout(() => {
      endGroup(child.pid);
      // A process that left the group may keep the pipes open.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      child.unref();
      finishRun({ code: null, timedOut: true });
    }, limitMs);
    child.stdout
      .setEncoding('utf8')
      .on('data', (text: string) => (stdout = (stdout + text).slice(0, MAX_OUTPUT_CHARS)));
    child.stderr
      .setEncoding('utf8')
      .on('data', (text: string) => (stderr = (stderr + text).slice(0, MAX_OUTPUT_CHARS)));
    // A process that does not read its input closes the pipe.
    child.stdin.on('error', () => undefined).end(stdin);
    child.on('error', (error) => finishRun({ code: null, timedOut: false, error: error.message }));
    child.on('close', (code) => finishRun({ code, timedOut: false }));
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

/** Maximum time between two turns of the event loop, in milliseconds. */
const WORK_MS = 8;

/** Call the returned function regularly: it returns a promise to await if the event loop needs a turn. */
export function createBreather(): () => Promise<void> | undefined {
  let untilMs = steadyMs() + WORK_MS;
  return () => (steadyMs() < untilMs ? undefined : letOthersRun());

  async function letOthersRun(): Promise<void> {
    await nextTurn();
    untilMs = steadyMs() + WORK_MS;
  }
}
