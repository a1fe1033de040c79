import { systemClock, steadyMs } from '../../core/base/clock.ts';
import { readResult } from '../../core/steering/read-result.ts';
import { createFingerprint } from '../../core/redact/fingerprint.ts';
import { createRedactor, NO_REDACTION, type Redactor } from '../../core/redact/redactor.ts';
import { BUILD } from './build.ts';
import { ClaudeSessions, type ClaudeSessionsOptions } from './claude-sessions.ts';
import type { HookFault } from '../../core/node/fault-log.ts';
import { readLessons, tellsLessons } from './project-lessons.ts';
import type { HookConfig } from './hook-config.ts';

/** Higher than the usual 50 ms, because the first evaluation of a process includes compilation. */
const PROVIDER_TIME_LIMIT_MS = 500;

type ProjectSetup = Pick<ClaudeSessionsOptions, 'store' | 'projectFolder' | 'redactor'>;

/** Throws as `createRedactor`. `onFault` is called if a redaction rule fails. */
export function projectRedaction(
  { redaction }: Pick<HookConfig['resolved'], 'redaction'>,
  onFault: (fault: HookFault) => void,
): Redactor {
  if (redaction === false) return NO_REDACTION;
  return createRedactor(redaction, {
    readResult,
    fingerprint: createFingerprint(),
    onFault: (rule, message) => onFault({ where: `redaction rule ${rule}`, message }),
  });
}

/** @throws CoxswainError as `ClaudeSessions` */
export function projectSessions(config: HookConfig['resolved'], setup: ProjectSetup): ClaudeSessions {
  return new ClaudeSessions({
    ...setup,
    config: { ...config, steering: { providerTimeLimitMs: PROVIDER_TIME_LIMIT_MS, ...config.steering } },
    forceTurnAtStop: config.forceTurnAtStop,
    clock: systemClock,
    build: BUILD,
    lessons: tellsLessons(config)
      ? () => readLessons({ projectFolder: setup.projectFolder, env: process.env })
      : undefined,
    measureMs: steadyMs,
  });
}
