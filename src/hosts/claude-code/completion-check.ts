import { existsSync } from 'node:fs';
import { basename, relative } from 'node:path';

import { durationText } from '../../base/duration-text.ts';
import { messageOf } from '../../base/error.ts';
import type { CompletionCheck } from '../../config/resolved-config.ts';

/** Variables that only the agent's own processes need: they let a program speak to the session. */
const SESSION_SECRETS = /^CLAUDE_CODE_MESSAGING_/;

/**
 * What of a completion check does not hold, one line each; empty: all of it does. Runs the command, without a shell, and
 * waits for its end; what it prints is thrown away.
 */
export async function missingForCompletion(check: CompletionCheck, projectFolder: string): Promise<readonly string[]> {
  const missing = check.files
    .filter((file) => !existsSync(file))
    .map((file) => `The file ${relative(projectFolder, file) || basename(file)} does not exist.`);
  const failure =
    check.command === undefined ? undefined : await commandFailure(check.command, check.timeoutMs, projectFolder);
  return failure === undefined ? missing : [...missing, failure];
}

/** How a command ended: what `exit` tells, or why it did not start. */
interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error?: Error;
}

async function commandFailure(command: readonly string[], timeoutMs: number, cwd: string): Promise<string | undefined> {
  const [program, ...args] = command;
  if (program === undefined) return undefined;
  // Not imported: few hook calls come here, and all of them would load it.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const env = withoutSessionSecrets(process.env);
  const named = `\`${command.join(' ')}\``;
  let isLate = false;
  const ended = await new Promise<Ended>((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: 'ignore' });
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, timeoutMs);
    const finish = (how: Ended): void => {
      clearTimeout(timer);
      resolve(how);
    };
    child.on('error', (error) => finish({ code: null, signal: null, error }));
    child.on('exit', (code, signal) => finish({ code, signal }));
  });
  if (isLate) return `${named} did not end within ${durationText(timeoutMs)}.`;
  if (ended.error !== undefined) return `${named} could not be started: ${messageOf(ended.error)}.`;
  if (ended.code === 0) return undefined;
  return `${named} ended with ${ended.code === null ? `signal ${String(ended.signal)}` : `exit code ${ended.code}`}.`;
}

/** The environment without what lets a program speak to the session. */
export function withoutSessionSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SESSION_SECRETS.test(name)));
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
