import { resolveWithin } from '../doctor/doctor-line.ts';
import { messageOf } from '../../../core/base/error.ts';
import { endProcess, readStdin } from '../../../hosts/claude-code/read-stdin.ts';
import { writeStdout } from '../../../hosts/claude-code/write-stdout.ts';
import { jsonLine, printable } from '../../../core/base/printable.ts';
import { findStatus } from './find-status.ts';
import { formattedStatus, statusText } from './run-status.ts';

export interface StatusOptions {
  readonly json?: boolean;
  readonly format?: string;
}

/** Claude Code writes immediately, and a pipe without a writer must not delay a prompt. */
const STDIN_LIMIT_MS = 300;

/** Ends the process, always with exit code 0. An error is a short line, or the field `problem` with `--json`. */
export async function statusMain(options: StatusOptions): Promise<never> {
  try {
    writeStdout(await statusLine(options));
  } catch {
    // Ignores the error of a closed pipe.
  }
  return endProcess();
}

async function statusLine({ format, json }: StatusOptions): Promise<string> {
  try {
    const run = await findStatus(process.env, await readInput(), Date.now());
    if (json === true) return jsonLine(run ?? null);
    if (format !== undefined) return `${formattedStatus(format, run)}\n`;
    return `${statusText(run)}\n`;
  } catch (error) {
    if (json === true) return jsonLine({ problem: printable(messageOf(error)) });
    return format === undefined ? 'cox: the store cannot be read (coxswain doctor)\n' : '\n';
  }
}

async function readInput(): Promise<string> {
  // Loading `process.stdin` is slow, so it is avoided for a terminal.
  const { isatty } = await import('node:tty');
  if (isatty(0)) return '';
  const read = readStdin().then((bytes) => bytes.toString('utf8'));
  return resolveWithin(read, STDIN_LIMIT_MS, '').catch(() => '');
}
