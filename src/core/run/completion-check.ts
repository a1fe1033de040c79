import { existsSync } from 'node:fs';
import { basename, relative, resolve } from 'node:path';

import { durationText } from '../base/number-text.ts';
import type { Run } from './run.ts';

/** Conditions that must hold before the agent may stop. */
export interface CompletionCheck {
  /** Files that must exist. A path is absolute, or relative to the folder of the check. */
  readonly files: readonly string[];
  /** A program with arguments that must exit with code 0. It runs without a shell. */
  readonly command?: readonly string[];
  readonly timeoutMs: number;
  /** Maximum number of times that the agent must continue; from 1. */
  readonly maxAttempts: number;
}

/** Defaults of `CompletionCheck`, which the configuration also uses. */
export const COMPLETION_DEFAULTS: Pick<CompletionCheck, 'timeoutMs' | 'maxAttempts'> = {
  timeoutMs: 60_000,
  maxAttempts: 3,
};

export interface CompletionOptions extends Partial<CompletionCheck> {
  /** Base folder of the files and working folder of the program; default: the working folder of the process. */
  readonly folder?: string;
  /** Returns other unmet conditions, one line each. */
  readonly missing?: () => readonly string[] | Promise<readonly string[]>;
}

export interface CompletionAnswer {
  readonly met: boolean;
  readonly missing: readonly string[];
  /** Text for the agent, which must continue. Undefined if the agent may stop. */
  readonly text: string | undefined;
}

const unmetCounts = new WeakMap<Run, number>();

/**
 * Checks whether the agent may stop, and records the result (`completion_checked`). After `maxAttempts` unmet checks, the
 * agent may stop anyway. It may also stop if a call was refused since the last message of the user, because the conditions may
 * need that call. An exception thrown by `missing` counts as another unmet condition and is recorded as a fault.
 *
 * Cost: a stat per file, plus the program, which runs for at most `timeoutMs`.
 */
export async function checkCompletion(run: Run, options: CompletionOptions): Promise<CompletionAnswer> {
  const { folder = process.cwd(), missing: moreLines, ...rest } = options;
  const check: CompletionCheck = { files: [], ...COMPLETION_DEFAULTS, ...rest };
  const missingLines = [...(await missingForCompletion(check, folder)), ...(await guardedLines(run, moreLines))];
  const attempt = (unmetCounts.get(run) ?? 0) + 1;
  const isMet = missingLines.length === 0;
  const gaveUp = !isMet && (attempt > check.maxAttempts || run.analysis.refusalStands);
  run.emit({ type: 'completion_checked', met: isMet, missing: missingLines, attempt, ...(gaveUp ? { gaveUp } : {}) });
  unmetCounts.set(run, isMet || gaveUp ? 0 : attempt);
  return { met: isMet, missing: missingLines, text: isMet || gaveUp ? undefined : completionText(missingLines) };
}

async function guardedLines(run: Run, lines: CompletionOptions['missing']): Promise<readonly string[]> {
  try {
    return (await lines?.()) ?? [];
  } catch (error) {
    // The message may contain the content of a file, and the agent reads this line.
    run.reportFault('completion check', error);
    return ['The check could not be made.'];
  }
}

/** Returns the unmet conditions of a check, one line each. Runs the command without a shell and discards its output. */
export async function missingForCompletion(
  check: Omit<CompletionCheck, 'maxAttempts'>,
  folder: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<readonly string[]> {
  const missingFiles = check.files
    .map((file) => resolve(folder, file))
    .filter((file) => !existsSync(file))
    .map((file) => `The file ${relative(folder, file) || basename(file)} does not exist.`);
  const failure =
    check.command === undefined
      ? undefined
      : await commandFailure(check.command, check.timeoutMs, { cwd: folder, env });
  return failure === undefined ? missingFiles : [...missingFiles, failure];
}

interface CommandEnd {
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
  // The module is not imported statically, because every hook process would load it and few need it.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const quotedCommand = `\`${command.join(' ')}\``;
  let isLate = false;
  const end = await new Promise<CommandEnd>((done) => {
    const child = spawn(program, args, { cwd, env, stdio: 'ignore' });
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, timeoutMs);
    const finishCommand = (commandEnd: CommandEnd): void => {
      clearTimeout(timer);
      done(commandEnd);
    };
    child.on('error', (error) => finishCommand({ code: null, signal: null, error }));
    child.on('exit', (code, signal) => finishCommand({ code, signal }));
  });
  if (isLate) return `${quotedCommand} did not end within ${durationText(timeoutMs)}.`;
  if (end.error !== undefined) return `${quotedCommand} could not be started.`;
  if (end.code === 0) return undefined;
  return `${quotedCommand} ended with ${end.code === null ? `signal ${String(end.signal)}` : `exit code ${end.code}`}.`;
}

export function completionText(missingLines: readonly string[]): string {
  return [
    '[Completion Check]',
    '',
    'Not complete yet:',
    ...missingLines.map((line) => `- ${line}`),
    '',
    '→ Complete this, then stop.',
  ].join('\n');
}
