import { runLimited } from '../../core/node/run-limited.ts';
import { escaped } from './escaped.ts';
import type { Notification, NotifyFailure, NotifyTarget } from './notification.ts';

const LIMIT_MS = 10_000;

/**
 * Runs a command once per notification. The command receives the notification as JSON on standard input, and in the variables
 * `COXSWAIN_EVENT`, `COXSWAIN_RUN` and `COXSWAIN_MESSAGE`. It is killed after 10 seconds. It is never retried.
 *
 * @param command  a program and its arguments, or a shell command line
 */
export function commandTarget(command: string | readonly string[], name = 'the command'): NotifyTarget {
  const [program = '', ...args] = typeof command === 'string' ? [command] : command;
  return {
    name,
    send: (notification) => runProgram(notification, program, typeof command === 'string' ? undefined : args),
  };
}

/** Shows desktop notifications with `notify-send`, or with `osascript` on macOS. */
export function desktopTarget(platform: NodeJS.Platform = process.platform): NotifyTarget {
  return {
    name: 'the desktop',
    send: (notification) => {
      const { message } = notification;
      if (platform === 'darwin') {
        const script = ['on run argv', 'display notification (item 1 of argv) with title "coxswain"', 'end run'];
        return runProgram(notification, 'osascript', [...script.flatMap((line) => ['-e', line]), message]);
      }
      return runProgram(notification, 'notify-send', ['--app-name=coxswain', '--', 'coxswain', escaped(message)]);
    },
  };
}

async function runProgram(
  notification: Notification,
  command: string,
  args: readonly string[] | undefined,
): Promise<NotifyFailure | undefined> {
  const { event, run, message } = notification;
  const env = { ...process.env, COXSWAIN_EVENT: event, COXSWAIN_RUN: run, COXSWAIN_MESSAGE: message };
  const stdin = `${JSON.stringify(notification)}\n`;
  const program = args === undefined ? { command } : { command, args };
  const result = await runLimited({ ...program, cwd: process.cwd(), env, stdin, limitMs: LIMIT_MS });
  if (result.code === 0) return undefined;
  const ended = result.timedOut ? `it took more than ${LIMIT_MS / 1_000} s` : `exit code ${result.code ?? 'none'}`;
  return { why: result.error ?? ended, mayRetry: false };
}
