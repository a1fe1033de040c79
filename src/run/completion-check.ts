import { existsSync } from 'node:fs';
import { basename, relative, resolve } from 'node:path';

import { durationText } from '../base/number-text.ts';
import { messageOf } from '../base/error.ts';
import type { Run } from './run.ts';

/** What must hold before the agent may stop. */
export interface CompletionCheck {
  /** Files that must exist; absolute, or from the folder of the check. */
  readonly files: readonly string[];
  /** A program and its arguments that must end with exit code 0; no shell reads it. */
  readonly command?: readonly string[];
  /** How long the program may take before it is ended. */
  readonly timeoutMs: number;
  /** Times that the agent is sent back, at most; from 1. */
  readonly maxAttempts: number;
}

/** How long a program may take, and how often the agent is sent back, where nobody says. */
export const COMPLETION_DEFAULTS: Pick<CompletionCheck, 'timeoutMs' | 'maxAttempts'> = {
  timeoutMs: 60_000,
  maxAttempts: 3,
};

/** A check of a program that uses the library. */
export interface CompletionOptions extends Partial<CompletionCheck> {
  /** Where the files lie and the program runs; default: the working folder of the process. */
  readonly folder?: string;
  /** More that does not hold, one line each: for what no file and no program tells. */
  readonly missing?: () => readonly string[] | Promise<readonly string[]>;
}

/** Whether the agent may stop. */
export interface CompletionAnswer {
  readonly met: boolean;
  /** What does not hold, one line each. */
  readonly missing: readonly string[];
  /** What to tell the agent, which then goes on; undefined where it may stop: all holds, or it was sent back often enough. */
  readonly text: string | undefined;
}

/** Unmet checks of a run in this process since it last met one. */
const unmet = new WeakMap<Run, number>();

/**
 * Looks whether the agent may stop, when it wants to, and records the answer (`completion_checked`). Bounded: after `maxAttempts`
 * checks that were not met the agent may stop all the same. What `missing` throws is one more line that does not hold.
 *
 * Cost: a look at each file, and the program, for `timeoutMs` at most (default 60 seconds).
 */
export async function checkCompletion(run: Run, options: CompletionOptions): Promise<CompletionAnswer> {
  const { folder = process.cwd(), missing: more, ...given } = options;
  const check: CompletionCheck = { files: [], ...COMPLETION_DEFAULTS, ...given };
  const found = [...(await missingForCompletion(check, folder)), ...(await guardedLines(more))];
  const attempt = (unmet.get(run) ?? 0) + 1;
  const met = found.length === 0;
  const gaveUp = !met && attempt > check.maxAttempts;
  run.emit({ type: 'completion_checked', met, missing: found, attempt, ...(gaveUp ? { gaveUp } : {}) });
  unmet.set(run, met || gaveUp ? 0 : attempt);
  return { met, missing: found, text: met || gaveUp ? undefined : completionText(found) };
}

async function guardedLines(lines: CompletionOptions['missing']): Promise<readonly string[]> {
  try {
    return (await lines?.()) ?? [];
  } catch (error) {
    return [`The check could not be made: ${messageOf(error)}.`];
  }
}

/**
 * What of a completion check does not hold, one line each; empty: all of it does. Runs the command, without a shell, and
 * waits for its end; what it prints is thrown away.
 */
export async function missingForCompletion(
  check: Omit<CompletionCheck, 'maxAttempts'>,
  folder: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<readonly string[]> {
  const missing = check.files
    .map((file) => resolve(folder, file))
    .filter((file) => !existsSync(file))
    .map((file) => `The file ${relative(folder, file) || basename(file)} does not exist.`);
  const failure =
    check.command === undefined
      ? undefined
      : await commandFailure(check.command, check.timeoutMs, { cwd: folder, env });
  return failure === undefined ? missing : [...missing, failure];
}

/** How a command ended: what `exit` tells, or why it did not start. */
interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error?: Error;
}

async function commandFailure(
  command: readonly string[],
  timeoutMs: number,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string | undefined> {
  const [program, ...args] = command;
  if (program === undefined) return undefined;
  // Not imported: few hook calls come here, and all of them would load it.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const named = `\`${command.join(' ')}\``;
  let isLate = false;
  const ended = await new Promise<Ended>((done) => {
    const child = spawn(program, args, { cwd, env, stdio: 'ignore' });
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, timeoutMs);
    const finish = (how: Ended): void => {
      clearTimeout(timer);
      done(how);
    };
    child.on('error', (error) => finish({ code: null, signal: null, error }));
    child.on('exit', (code, signal) => finish({ code, signal }));
  });
  if (isLate) return `${named} did not end within ${durationText(timeoutMs)}.`;
  if (ended.error !== undefined) return `${named} could not be started: ${messageOf(ended.error)}.`;
  if (ended.code === 0) return undefined;
  return `${named} ended with ${ended.code === null ? `signal ${String(ended.signal)}` : `exit code ${ended.code}`}.`;
}

/** What the agent reads when it may not stop yet. */
export function completionText(missing: readonly string[]): string {
  return [
    '[Completion Check]',
    '',
    'Not complete yet:',
    ...missing.map((line) => `- ${line}`),
    '',
    '→ Complete this, then stop.',
  ].join('\n');
}
