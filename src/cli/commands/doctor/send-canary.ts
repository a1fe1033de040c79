import { randomBytes } from 'node:crypto';

import { messageOf } from '../../../core/base/error.ts';
import { faultOwners, readFaults } from '../../../core/node/fault-log.ts';
import type { TrajectoryStore } from '../../../core/store/trajectory-store.ts';
import { CANARY_PREFIX, failed, HOST_LIMIT_MS, passed, unknown, type DoctorLine } from './doctor-line.ts';
import { runLimited } from '../../../core/node/run-limited.ts';
import { resolveWithin } from './resolve-within.ts';

const SHOWN_CHARS = 300;

export interface CanarySetup {
  readonly projectFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly openStore: () => Promise<TrajectoryStore>;
}

/**
 * Sends a test event through a hook command as Claude Code does: runs the command with the shell in the project folder and writes
 * the event to standard input. Passes if the event was recorded. Always deletes the run.
 */
export async function sendCanary(command: string, setup: CanarySetup): Promise<DoctorLine> {
  const { env, projectFolder } = setup;
  const event = canaryEvent(projectFolder);
  const { session_id: sessionId } = event;
  const result = await runLimited({
    command,
    cwd: projectFolder,
    env: { ...env, CLAUDE_PROJECT_DIR: projectFolder },
    stdin: JSON.stringify(event),
    limitMs: HOST_LIMIT_MS,
  });
  const storedCanary = await lookForCanary(sessionId, setup);
  const check = 'hook alive';
  const shownCommand = command.slice(0, SHOWN_CHARS);
  const fix = 'Run coxswain init claude-code again; “problems noticed” below may name the cause.';
  const durationText = `${Math.round(result.durationMs)} ms`;
  if (result.error !== undefined) return failed(check, `${shownCommand} did not start: ${result.error}`, fix);
  if (result.timedOut) {
    const found = `${shownCommand} did not end in ${HOST_LIMIT_MS / 1000} seconds, after which Claude Code ends it`;
    return failed(check, found, `If the machine is busy, run coxswain doctor again later. Otherwise: ${fix}`);
  }
  if (result.code !== 0) {
    const output = result.stderr.trim().slice(0, SHOWN_CHARS);
    return failed(check, `${shownCommand} exited with code ${result.code}${output === '' ? '' : `: ${output}`}`, fix);
  }
  if (storedCanary.problem !== undefined) return failed(check, `${shownCommand}: ${storedCanary.problem}`, fix);
  if (!storedCanary.found) {
    const fault = faultOwners(setup)
      .flatMap(readFaults)
      .findLast((line) => line.sessionId === sessionId);
    const faultText = fault === undefined ? '' : `: ${fault.where}: ${fault.message}`;
    return failed(check, `${shownCommand} ran in ${durationText} but recorded nothing${faultText}`, fix);
  }
  return passed(check, `an event sent through the hook was recorded in ${durationText}: ${shownCommand}`);
}

/**
 * Returns the line for a hook that was not tested: project settings may come from the repository, and the hook is not that of this
 * installation.
 */
export function notTried(hook: string): DoctorLine {
  return unknown(
    'hook alive',
    `not tried, because it is in the project settings and is not the hook of this coxswain: ${hook.slice(0, SHOWN_CHARS)}`,
    'If you did not write it, remove it; run coxswain init claude-code for the hook of this coxswain.',
  );
}

/** A test event of `doctor`. */
export interface CanaryEvent {
  readonly session_id: string;
  readonly cwd: string;
  readonly hook_event_name: 'UserPromptSubmit';
  readonly prompt: string;
}

/** Creates a test event with a new session id. */
function canaryEvent(projectFolder: string): CanaryEvent {
  return {
    session_id: CANARY_PREFIX + randomBytes(6).toString('hex'),
    cwd: projectFolder,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'A test event of coxswain doctor.',
  };
}

/** Searches the store for the run of a test event and deletes the run. */
async function lookForCanary(
  runId: string,
  { openStore }: Pick<CanarySetup, 'openStore'>,
): Promise<{ readonly found: boolean; readonly problem?: string }> {
  const findAndDelete = async (): Promise<boolean> => {
    const store = await openStore();
    try {
      const summary = await store.findRun(runId);
      await store.deleteRun(runId);
      return summary !== undefined;
    } finally {
      await store.close();
    }
  };
  try {
    const foundCanary = await resolveWithin(findAndDelete(), HOST_LIMIT_MS, undefined);
    if (foundCanary !== undefined) return { found: foundCanary };
    const problem = `the store did not respond in ${HOST_LIMIT_MS / 1000} seconds; run ${runId} may remain in it`;
    return { found: false, problem };
  } catch (error) {
    return { found: false, problem: messageOf(error) };
  }
}
