import { setTimeout as sleep } from 'node:timers/promises';

import { systemClock } from '../../core/base/clock.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { logFault } from '../../core/node/fault-log.ts';
import { projectFolderOf } from '../../core/node/git-folder.ts';
import { timeoutOf } from '../claude-code/init-hooks.ts';
import type { HostName } from '../dialects/hook-dialect.ts';
import { EventProcess, type PluginProgram } from './event-process.ts';

export type { PluginProgram } from './event-process.ts';

export interface EventBridge {
  /** Resolves to text for the model within ten seconds; never rejects. The event is in the format of `readPayload`. */
  send(event: EventBody): Promise<string | undefined>;
  /** Ends the process that takes the events, after those before. The next event starts another one. */
  close(): Promise<void>;
}

export interface EventBody {
  readonly hook_event_name: string;
  readonly session_id: string;
  readonly [member: string]: unknown;
}

/** How long the host waits for an answer. */
const WAIT_MS = 10_000;
/** Events after which a process is tried again. */
const BEGINNINGS: ReadonlySet<string> = new Set(['SessionStart', 'UserPromptSubmit']);

/** The hook spills an event that the store does not accept, and an unanswered one is sent to the next process: none is lost. */
export function createBridge(host: HostName, cwd: string, program: PluginProgram): EventBridge {
  const { env } = process;
  if (env['COXSWAIN_DISABLE'] === '1') return { send: async () => undefined, close: async () => undefined };
  const hook = new EventProcess(program, cwd);
  const report = async (event: EventBody): Promise<string | undefined> => {
    const { hook_event_name: name } = event;
    if (BEGINNINGS.has(name)) hook.tryAgain();
    if (hook.hasGivenUp) return undefined;
    const answer = await hook.take(JSON.stringify({ host, cwd, ...event }), timeoutOf(name) * 1_000);
    if (hook.hasGivenUp) {
      const place = { projectFolder: projectFolderOf(cwd), env, nowMs: systemClock.nowMs() };
      logFault(
        {
          where: 'plugin',
          message: `nothing is recorded until the next prompt: ${program.node} answers nothing`,
          event: name,
        },
        place,
        true,
      );
    }
    const text = isJsonObject(answer) ? answer['text'] : undefined;
    return typeof text === 'string' ? text : undefined;
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    async send(event) {
      const answer = last.then(async () => report(event)).catch(() => undefined);
      last = answer;
      const waiting = new AbortController();
      const timeIsUp = sleep(WAIT_MS, undefined, { signal: waiting.signal }).catch(() => undefined);
      const text = await Promise.race([answer, timeIsUp]);
      waiting.abort();
      return text;
    },
    async close() {
      last = last.then(() => hook.close());
      await last;
    },
  };
}
