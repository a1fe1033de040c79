import { spawn } from 'node:child_process';

import { isJsonObject } from '../../core/base/json.ts';
import { DISABLE_HEADER, HOOK_MARK } from '../claude-code/init-hooks.ts';
import { projectFolderOf } from '../../core/node/project-folder.ts';
import { readServeSettings } from '../claude-code/serve-settings.ts';
import type { HostName } from '../dialects/hook-dialect.ts';

/** Absolute paths of Node and the bundled hook. They come from the plugin file that `init` wrote. */
export interface PluginProgram {
  readonly node: string;
  readonly hook: string;
}

/** Reports events of a host from its plugin. */
export interface EventBridge {
  /**
   * Reports an event after the previous ones. Never rejects.
   *
   * @param event  in the format of `readPayload`
   * @returns text for the model
   */
  send(event: EventBody): Promise<string | undefined>;
}

/** Fields of every event. */
export interface EventBody {
  readonly hook_event_name: string;
  readonly session_id: string;
  readonly [member: string]: unknown;
}

/** How long the host waits for an answer. */
const LIMIT_MS = 10_000;
/** Events that start the server. They are sent to a hook process. */
const WAKING: ReadonlySet<string> = new Set(['SessionStart', 'UserPromptSubmit']);

/**
 * Reports events to the resident server of the project. If the server does not run or does not acknowledge the event, a hook
 * process takes it. The hook process writes an event to a spill file if the store does not accept it, so no event is lost.
 */
export function createBridge(host: HostName, cwd: string, { node, hook }: PluginProgram): EventBridge {
  const { env } = process;
  if (env['COXSWAIN_DISABLE'] === '1') return { send: async () => undefined };
  const projectFolder = projectFolderOf({ projectDir: undefined, cwd });
  const report = async (event: EventBody): Promise<string | undefined> => {
    const body = JSON.stringify({ host, cwd, ...event });
    const answer = WAKING.has(event.hook_event_name) ? undefined : await post(body);
    return textIn(answer ?? (await runHook(body)));
  };
  const post = async (body: string): Promise<string | undefined> => {
    try {
      const settings = readServeSettings(projectFolder, env);
      if (settings === undefined) return undefined;
      const response = await fetch(`http://127.0.0.1:${settings.port}/${HOOK_MARK}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${settings.token}`, [DISABLE_HEADER]: '0' },
        body,
        signal: AbortSignal.timeout(LIMIT_MS),
      });
      return response.status === 200 ? await response.text() : undefined;
    } catch {
      // There is no server, or another program answered. A hook process takes the event.
      return undefined;
    }
  };
  const runHook = async (body: string): Promise<string> =>
    new Promise((resolve) => {
      const child = spawn(node, [hook, HOOK_MARK], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'], timeout: LIMIT_MS });
      let answer = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (answer += text));
      child.on('error', () => resolve(''));
      child.on('close', () => resolve(answer));
      child.stdin.on('error', () => undefined);
      child.stdin.end(body);
    });
  let last: Promise<unknown> = Promise.resolve();
  return {
    async send(event) {
      const answer = last.then(async () => report(event)).catch(() => undefined);
      last = answer;
      return answer;
    },
  };
}

function textIn(answer: string): string | undefined {
  const json: unknown = answer === '' ? {} : JSON.parse(answer);
  const text = isJsonObject(json) ? json['text'] : undefined;
  return typeof text === 'string' ? text : undefined;
}
