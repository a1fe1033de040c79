import { existsSync } from 'node:fs';
import { basename, relative } from 'node:path';

import { durationText } from '../base/duration-text.ts';
import { messageOf } from '../base/error.ts';
import type { CompletionCheck } from '../config/resolved-config.ts';

/** Variables that only the agent's own processes need: they let a program speak to the session. */
const SESSION_SECRETS = /^CLAUDE_CODE_MESSAGING_/;

/**
 * What of a completion check does not hold, one line each; empty: all of it does. Runs the command, without a shell, and
 * waits for its end; what it prints is thrown away.
 */
export function missingForCompletion(check: CompletionCheck, projectFolder: string): readonly string[] {
  const missing = check.files
    .filter((file) => !existsSync(file))
    .map((file) => `The file ${relative(projectFolder, file) || basename(file)} does not exist.`);
  const failure =
    check.command === undefined ? undefined : commandFailure(check.command, check.timeoutMs, projectFolder);
  return failure === undefined ? missing : [...missing, failure];
}

function commandFailure(command: readonly string[], timeoutMs: number, cwd: string): string | undefined {
  const [program, ...args] = command;
  if (program === undefined) return undefined;
  // Not imported: few hook calls come here, and all of them would load it.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !SESSION_SECRETS.test(name)));
  const named = `\`${command.join(' ')}\``;
  const ended = spawnSync(program, args, { cwd, env, timeout: timeoutMs, killSignal: 'SIGKILL', stdio: 'ignore' });
  if (ended.error !== undefined) {
    const isLate = 'code' in ended.error && ended.error.code === 'ETIMEDOUT';
    return isLate
      ? `${named} did not end within ${durationText(timeoutMs)}.`
      : `${named} could not be started: ${messageOf(ended.error)}.`;
  }
  if (ended.status === 0) return undefined;
  return `${named} ended with ${ended.status === null ? `signal ${String(ended.signal)}` : `exit code ${ended.status}`}.`;
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
