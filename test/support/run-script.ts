import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

import { endWithTest } from './end-with-test.ts';

/** A process that runs a script of a test. */
export interface ScriptProcess {
  readonly child: ChildProcess;
  /** The output so far. */
  stdout(): string;
  /** Resolves after the process has exited and its output has been read. */
  readonly ended: Promise<{ readonly stdout: string; readonly stderr: string; readonly signal: string | null }>;
}

/**
 * Starts Node on a script, an ES module that finds its arguments in `process.argv` from index 1. It ends with the test at the latest.
 *
 * @param script  imports by absolute URLs
 */
export function runScript(script: string, args: readonly string[]): ScriptProcess {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  endWithTest(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<Awaited<ScriptProcess['ended']>>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (_code, signal) => resolve({ stdout, stderr, signal }));
  });
  return { child, stdout: () => stdout, ended };
}
