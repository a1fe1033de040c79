import { systemClock } from '../../core/base/clock.ts';
import { messageOf } from '../../core/base/error.ts';
import { faultText } from '../../core/recorder/fault-text.ts';
import { OtlpEndpoint } from '../otlp/otlp-endpoint.ts';
import { OtlpIntake } from '../otlp/otlp-intake.ts';
import { otlpToken } from '../otlp/otlp-token.ts';
import { BUILD } from './build.ts';
import { logFault, type HookFault } from '../../core/node/fault-log.ts';
import type { HookEvent } from './hook-event.ts';
import { startHookServer } from './hook-server.ts';
import { removeServerRecord, writeServerRecord } from './server-process.ts';
import type { ServerFacts } from './server-health.ts';
import { ServedProject } from './served-project.ts';
import { readServeSettings, type ServeSettings } from './serve-settings.ts';

/** The server stops after 6 hours without an event. Most commands that an agent runs take less time. */
export const DEFAULT_IDLE_LIMIT_MS: number = 6 * 3_600_000;

/** Interval between checks for the idle limit and for waiting events. */
const LOOK_MS = 30_000;
/** Time limit for recording waiting events, per check. */
const FOLD_LIMIT_MS = 1_000;
/** Interval between checks of the store size. */
const GC_MS = 24 * 3_600_000;

export interface RunServerOptions {
  readonly projectFolder: string;
  readonly settings: ServeSettings;
  readonly env: NodeJS.ProcessEnv;
  /** Default: 6 hours. */
  readonly idleLimitMs?: number;
  /** See `ServedProjectOptions`. */
  readonly maxRuns?: number;
}

export interface RunningServer {
  readonly port: number;
  facts(): ServerFacts;
  /** Logs an error that occurred outside the server, in the process that runs it. */
  reportFault(where: string, error: unknown): void;
  /** Answers the requests in progress, closes the store and removes the server record. A second call waits for the first. */
  stop(): Promise<void>;
  /** Resolves when the server has stopped. The cause is `stop`, the idle limit, or removed or changed settings. */
  readonly stopped: Promise<void>;
}

/**
 * Serves the http hooks of a project in this process until the server is stopped or has been idle for `idleLimitMs`. Trims the
 * store once a day. Faults go to the log that hook processes use.
 *
 * @throws CoxswainError `input-io` if the port is taken, or the server record cannot be written
 */
export async function runServer(options: RunServerOptions): Promise<RunningServer> {
  const { projectFolder, settings, env, idleLimitMs = DEFAULT_IDLE_LIMIT_MS } = options;
  const startedAtMs = systemClock.nowMs();
  const counts = { events: 0, faults: 0, lastEventAtMs: null as number | null };
  const onFault = (fault: HookFault, unlessKnown = false): void => {
    counts.faults += 1;
    const place = { projectFolder, env, nowMs: systemClock.nowMs() };
    logFault({ ...fault, message: faultText(fault.message) }, place, unlessKnown);
  };
  const project = new ServedProject({ ...options, onFault });
  const owner = { env, projectFolder };
  const otlp = new OtlpIntake({
    owner,
    clock: systemClock,
    withTarget: (work) => project.withTarget(work),
    onFault,
  });
  const facts = (): ServerFacts => ({
    ...counts,
    pid: process.pid,
    build: BUILD,
    project: projectFolder,
    startedAtMs,
    runs: project.runs,
    idleLimitMs,
    otlp: otlp.facts,
  });
  const endpoint = new OtlpEndpoint((found) => {
    counts.lastEventAtMs = systemClock.nowMs();
    return otlp.take(found);
  });
  const server = await startHookServer({
    ...settings,
    answer: (event: HookEvent) => {
      counts.events += 1;
      counts.lastEventAtMs = systemClock.nowMs();
      return project.answer(event);
    },
    otlp: { token: otlpToken(owner).token, answer: (request, response) => endpoint.answer(request, response) },
    // Both objects contain only plain data.
    health: () => ({ ...facts(), otlp: { ...otlp.facts } }),
    onFault,
  });

  const stopped = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    clearInterval(looking);
    await server.close();
    await otlp.stop();
    await project.close();
    removeServerRecord(projectFolder, env);
    stopped.resolve();
  };
  const stopOnce = (): Promise<void> => (stopping ??= stop());
  let collectedAtMs = 0;
  const look = (): void => {
    const nowMs = systemClock.nowMs();
    const isIdle = nowMs - (counts.lastEventAtMs ?? startedAtMs) >= idleLimitMs;
    if (isIdle || !isWanted(projectFolder, settings)) void stopOnce();
    else if (counts.events > 0 && nowMs - collectedAtMs >= GC_MS) {
      collectedAtMs = nowMs;
      void project.collectGarbage();
    } else if (counts.events > 0) {
      // Record waiting events here, because their session may send no further event.
      project.foldWaiting(FOLD_LIMIT_MS).catch((error: unknown) => {
        onFault({ where: 'spill', message: messageOf(error) }, true);
      });
    }
  };
  const looking = setInterval(look, Math.min(LOOK_MS, idleLimitMs));
  try {
    writeServerRecord(projectFolder, env);
  } catch (error) {
    await stopOnce();
    throw error;
  }
  look();
  otlp.resume();
  return {
    port: server.port,
    facts,
    reportFault: (where, error) => onFault({ where, message: messageOf(error) }),
    stop: stopOnce,
    stopped: stopped.promise,
  };

  function isWanted(folder: string, { port, token }: ServeSettings): boolean {
    try {
      const current = readServeSettings(folder, env);
      return current?.port === port && current.token === token;
    } catch (error) {
      onFault({ where: 'server', message: messageOf(error) }, true);
      return false;
    }
  }
}
