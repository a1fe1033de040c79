import { systemClock } from '../base/clock.ts';
import { steadyMs } from '../base/steady-ms.ts';
import { readResult } from '../read-result.ts';
import { createRedactor } from '../recorder/redactor.ts';
import { BUILD } from './build.ts';
import { ClaudeSessions, type ClaudeSessionsOptions } from './claude-sessions.ts';
import type { HookFault } from './fault-log.ts';
import type { HookConfig } from './hook-config.ts';

/** The first evaluation of a process pays for compiling what it runs; 50 ms, the usual limit, may pass without a fault. */
const PROVIDER_TIME_LIMIT_MS = 500;

/** What the sessions of a project are taken with, besides its configuration. */
export interface ProjectSetup extends Pick<ClaudeSessionsOptions, 'store' | 'projectFolder' | 'memory'> {
  /** Told of a rule of the redaction that failed. */
  readonly onFault: (fault: HookFault) => void;
}

/**
 * The sessions of a project as its configuration says: the same in a process that takes one event and in one that takes all
 * of them.
 *
 * @throws CoxswainError as `ClaudeSessions` and `createRedactor`
 */
export function projectSessions(config: HookConfig['resolved'], setup: ProjectSetup): ClaudeSessions {
  const { onFault, ...rest } = setup;
  const redactor =
    config.redaction === false
      ? undefined
      : createRedactor(config.redaction, {
          readResult,
          onFault: (rule, message) => onFault({ where: `redaction rule ${rule}`, message }),
        });
  return new ClaudeSessions({
    ...rest,
    config: { ...config, steering: { providerTimeLimitMs: PROVIDER_TIME_LIMIT_MS, ...config.steering } },
    forceTurnAtStop: config.forceTurnAtStop,
    redact: (payload) => redactor?.redact(payload) ?? payload,
    clock: systemClock,
    build: BUILD,
    measureMs: steadyMs,
  });
}
