import { randomBytes } from 'node:crypto';

import { messageOf } from '../../../base/error.ts';
import { faultOwners } from '../../../hosts/claude-code/fault-log.ts';
import type { TrajectoryStore } from '../../../store/trajectory-store.ts';
import { readFaults } from './check-faults.ts';
import { CANARY_PREFIX, failed, passed, unknown, type DoctorLine } from './doctor-line.ts';
import { runLimited } from '../../../base/run-limited.ts';
import { within } from './within.ts';

/** Longer than a hook waits for its store. */
const HOOK_LIMIT_MS = 10_000;
const STORE_LIMIT_MS = 5_000;
const SHOWN_CHARS = 300;

/** What a canary needs. */
export interface CanarySetup {
  readonly projectFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opens the store that the configuration names. */
  readonly openStore: () => Promise<TrajectoryStore>;
}

/**
 * Sends one event through a command of the settings, as Claude Code would: by the shell, in the project, with the event on
 * standard input. Passes when its record is in the store; the run that it made is deleted in every case.
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
    limitMs: HOOK_LIMIT_MS,
  });
  const stored = await lookForCanary(sessionId, setup);
  const check = 'hook alive';
  const shown = command.slice(0, SHOWN_CHARS);
  const fix = 'Run coxswain init claude-code again; the line about problems below may say why.';
  const took = `${Math.round(result.durationMs)} ms`;
  if (result.error !== undefined) return failed(check, `${shown} did not start: ${result.error}`, fix);
  if (result.timedOut) return failed(check, `${shown} did not end in ${HOOK_LIMIT_MS / 1000} seconds`, fix);
  if (result.code !== 0) {
    const said = result.stderr.trim().slice(0, SHOWN_CHARS);
    return failed(check, `${shown} ended with code ${result.code}${said === '' ? '' : `: ${said}`}`, fix);
  }
  if (stored.problem !== undefined) return failed(check, `${shown}: ${stored.problem}`, fix);
  if (!stored.found) {
    const fault = faultOwners(setup)
      .flatMap(readFaults)
      .findLast((line) => line.sessionId === sessionId);
    const why = fault === undefined ? '' : `: ${fault.where}: ${fault.message}`;
    return failed(check, `${shown} ran in ${took} and recorded nothing${why}`, fix);
  }
  return passed(check, `an event sent through the hook was recorded in ${took}: ${shown}`);
}

/** A hook that stands in the project's settings and is not this installation's: a repository may have brought it along. */
export function notTried(hook: string): DoctorLine {
  return unknown(
    'hook alive',
    `not tried, because the settings of the project name it and it is not the hook of this coxswain: ${hook.slice(0, SHOWN_CHARS)}`,
    'If you did not write it, take it out of the settings; run coxswain init claude-code for the hook of this coxswain.',
  );
}

/** An event that nobody else sends. */
export interface CanaryEvent {
  readonly session_id: string;
  readonly cwd: string;
  readonly hook_event_name: 'UserPromptSubmit';
  readonly prompt: string;
}

/** The event of a canary, with a session of its own. */
export function canaryEvent(projectFolder: string): CanaryEvent {
  return {
    session_id: CANARY_PREFIX + randomBytes(6).toString('hex'),
    cwd: projectFolder,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'coxswain doctor looks whether this arrives.',
  };
}

/** Whether the run of a canary is stored; it is not any more afterwards. */
export async function lookForCanary(
  runId: string,
  { openStore }: Pick<CanarySetup, 'openStore'>,
): Promise<{ readonly found: boolean; readonly problem?: string }> {
  const look = async (): Promise<boolean> => {
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
    const found = await within(look(), STORE_LIMIT_MS, undefined);
    if (found !== undefined) return { found };
    return {
      found: false,
      problem: `the store did not answer in ${STORE_LIMIT_MS / 1000} seconds; run ${runId} may be left`,
    };
  } catch (error) {
    return { found: false, problem: messageOf(error) };
  }
}
