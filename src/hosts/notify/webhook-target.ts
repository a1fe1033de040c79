import { reasonOf } from '../../core/base/error.ts';
import type { NotifySection } from '../config/coxswain-config.ts';
import { escaped, type NotifyFailure, type NotifyTarget, type Notification } from './notification.ts';
import { runLimited } from '../../core/node/run-limited.ts';

const LIMIT_MS = 10_000;

/**
 * Redirects are not followed. Timeouts, 429 and 5xx are transient. `slack`: `{ "text": … }`; `discord`: `{ "content": …
 * }` without mentions; `ntfy`: the sentence as plain text.
 */
export function webhookTarget(url: string, form: NotifySection['form'] = 'json'): NotifyTarget {
  return {
    // The rest of the URL is secret.
    name: `the webhook at ${new URL(url).host}`,
    send: async (notification) => {
      const text = `coxswain: ${notification.message}`;
      switch (form) {
        case 'json':
          return postJson(url, notification);
        case 'slack':
          return postJson(url, { text: escaped(text) });
        case 'discord':
          return postJson(url, {
            content: text.replaceAll(/[\\*_`~|>#[\]()<@]/g, String.raw`\$&`),
            allowed_mentions: { parse: [] },
          });
        default:
          return post(url, 'text/plain; charset=utf-8', text);
      }
    },
  };
}

/** Sends one POST request with JSON. Returns the failure; undefined on success. */
export function postJson(url: string, body: unknown): Promise<NotifyFailure | undefined> {
  return post(url, 'application/json', JSON.stringify(body));
}

/** The watch in the background runs without WebAssembly, which `fetch` needs. */
async function post(url: string, type: string, body: string): Promise<NotifyFailure | undefined> {
  try {
    const status = await statusOf(url, type, body);
    if (status >= 200 && status < 300) return undefined;
    return { why: `it answered ${status}`, mayRetry: status === 429 || status >= 500 };
  } catch (error) {
    return { why: reasonOf(error), mayRetry: true };
  }
}

function statusOf(url: string, type: string, body: string): Promise<number> {
  const { promise, reject, resolve } = Promise.withResolvers<number>();
  // An import of these modules loads the client behind `fetch` too: 7 MB of the watch in the background.
  const send = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http').request;
  const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) };
  const signal = AbortSignal.timeout(LIMIT_MS);
  const request = send(url, { method: 'POST', headers, signal, agent: false }, (response) => {
    resolve(response.statusCode ?? 0);
    response.destroy();
  });
  request.on('error', (error) => reject(signal.aborted ? signal.reason : error));
  request.end(body);
  return promise;
}

/**
 * JSON on standard input, and `COXSWAIN_EVENT`, `COXSWAIN_RUN`, `COXSWAIN_MESSAGE`. Killed after 10 seconds, never
 * retried.
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
