import { join } from 'node:path';

import { readHookInput } from '../adapters/claude-agent-sdk/read-hook-input.ts';
import { systemClock } from '../base/clock.ts';
import { messageOf } from '../base/error.ts';
import { isJsonObject } from '../base/json.ts';
import { steadyMs } from '../base/steady-ms.ts';
import { readResult } from '../read-result.ts';
import { faultText } from '../recorder/fault-text.ts';
import { createRedactor } from '../recorder/redactor.ts';
import { BUILD } from './build.ts';
import { ClaudeSessions } from './claude-sessions.ts';
import { logFault, type HookFault } from './fault-log.ts';
import { hookConfig } from './hook-config.ts';
import { openHookStore, STATE_FOLDER } from './open-hook-store.ts';
import { projectFolderOf } from './project-folder.ts';
import type { StdinBytes } from './read-stdin.ts';
import { writeStdout } from './write-stdout.ts';

export { warmUp } from './warm-up.ts';

/** How long the store is waited for. */
const TIME_LIMIT_MS = 2_000;
/** The first evaluation of a process pays for compiling what it runs; 50 ms, the usual limit, may pass without a fault. */
const PROVIDER_TIME_LIMIT_MS = 500;

/** What is known of a call when something goes wrong. */
interface Known {
  projectStateFolder?: string;
  event?: string;
  sessionId?: string;
}

/**
 * `coxswain hook`: one event of Claude Code, from standard input, recorded and answered on standard output. Whatever goes
 * wrong is written into our own log; the agent gets no output then, and goes on as if there were no hook. Never rejects.
 *
 * @param leave  ends the process with exit code 0, which the caller does afterwards too
 */
export async function runHook(stdin: Promise<StdinBytes>, leave: () => never): Promise<void> {
  const known: Known = {};
  const fail = (where: string, error: unknown): void => note({ where, message: messageOf(error) }, known);
  const failAndLeave = (where: string, error: unknown): never => {
    fail(where, error);
    return leave();
  };
  process.on('uncaughtException', (error) => failAndLeave('uncaught exception', error));
  process.on('unhandledRejection', (error) => failAndLeave('unhandled rejection', error));
  try {
    const { bytes } = await stdin;
    await takeEvent(bytes, known);
  } catch (error) {
    fail('hook', error);
  }
}

async function takeEvent(bytes: Buffer, known: Known): Promise<void> {
  const json = parse(bytes);
  if (!isJsonObject(json)) {
    return note({ where: 'input', message: `standard input is no JSON object (${bytes.length} bytes)` }, known);
  }
  const event = textOf(json['hook_event_name']);
  const sessionId = textOf(json['session_id']);
  const projectFolder = projectFolderOf({ projectDir: process.env['CLAUDE_PROJECT_DIR'], cwd: textOf(json['cwd']) });
  known.projectStateFolder = join(projectFolder, STATE_FOLDER);
  if (event !== undefined) known.event = event.slice(0, 100);
  if (sessionId !== undefined) known.sessionId = sessionId.slice(0, 100);
  const input = readHookInput(json);
  if (input === undefined || sessionId === undefined) {
    return note({ where: 'input', message: 'the event is not known, or lacks what it must have' }, known);
  }

  const { env } = process;
  const { resolved, problems } = await hookConfig({ projectFolder, env, homeFolder: homeOf(env) });
  for (const problem of problems) note({ where: 'config', message: JSON.stringify(problem) }, known, true);
  const redactor =
    resolved.redaction === false
      ? undefined
      : createRedactor(resolved.redaction, {
          readResult,
          onFault: (rule, message) => note({ where: `redaction rule ${rule}`, message }, known),
        });
  const store = await openHookStore(resolved.store, { timeoutMs: TIME_LIMIT_MS });
  const sessions = new ClaudeSessions({
    store,
    config: { ...resolved, steering: { providerTimeLimitMs: PROVIDER_TIME_LIMIT_MS, ...resolved.steering } },
    forceTurnAtStop: resolved.forceTurnAtStop,
    projectFolder,
    redact: (payload) => redactor?.redact(payload) ?? payload,
    clock: systemClock,
    build: BUILD,
    measureMs: steadyMs,
  });
  const hasBackgroundWork = Array.isArray(json['background_tasks']) && json['background_tasks'].length > 0;
  const { answer, faults } = await sessions.answer(input, sessionId, { hasBackgroundWork });
  for (const message of faults) note({ where: 'run', message }, known);
  // What is said is on the disk by now.
  if (Object.keys(answer).length > 0) writeStdout(JSON.stringify(answer));
  await store.close();
}

/** As `os.homedir()` finds it where it can be told without loading that. */
function homeOf({ HOME }: NodeJS.ProcessEnv): string {
  if (process.platform !== 'win32' && HOME !== undefined && HOME !== '') return HOME;
  return process.getBuiltinModule('node:os').homedir();
}

function parse(bytes: Buffer): unknown {
  try {
    const text = bytes.toString('utf8');
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
  } catch {
    // What JSON.parse says of it quotes the input.
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function note(fault: HookFault, known: Known, unlessKnown = false): void {
  const { projectStateFolder, ...about } = known;
  logFault(
    { ...fault, ...about, message: faultText(fault.message) },
    { projectStateFolder, env: process.env, nowMs: systemClock.nowMs() },
    unlessKnown,
  );
}
