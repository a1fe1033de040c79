import { systemClock } from '../../base/clock.ts';
import { steadyMs } from '../../base/steady-ms.ts';
import { readResult } from '../../steering/read-result.ts';
import { createFingerprint } from '../../redaction/fingerprint.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { BUILD } from './build.ts';
import { ClaudeSessions, type ClaudeSessionsOptions } from './claude-sessions.ts';
import type { HookFault } from './fault-log.ts';
import type { HookConfig } from './hook-config.ts';

/** The first evaluation of a process pays for compiling what it runs; 50 ms, the usual limit, may pass without a fault. */
const PROVIDER_TIME_LIMIT_MS = 500;

/** What the sessions of a project are taken with, besides its configuration. */
export interface ProjectSetup extends Pick<ClaudeSessionsOptions, 'store' | 'projectFolder' | 'memory' | 'onStored'> {
  readonly redact: ClaudeSessionsOptions['redact'];
}

/**
 * What may be stored of a payload, as the project's configuration says.
 *
 * @param onFault  receives a rule of the redaction that failed
 * @throws CoxswainError as `createRedactor`
 */
export function projectRedaction(
  { redaction }: Pick<HookConfig['resolved'], 'redaction'>,
  onFault: (fault: HookFault) => void,
): ClaudeSessionsOptions['redact'] {
  if (redaction === false) return (payload) => payload;
  const redactor = createRedactor(redaction, {
    readResult,
    fingerprint: createFingerprint(),
    onFault: (rule, message) => onFault({ where: `redaction rule ${rule}`, message }),
  });
  return (payload) => redactor.redact(payload);
}

/**
 * The sessions of a project as its configuration says: the same in a process that takes one event and in one that takes all
 * of them.
 *
 * @throws CoxswainError as `ClaudeSessions`
 */
export function projectSessions(config: HookConfig['resolved'], setup: ProjectSetup): ClaudeSessions {
  return new ClaudeSessions({
    ...setup,
    config: { ...config, steering: { providerTimeLimitMs: PROVIDER_TIME_LIMIT_MS, ...config.steering } },
    forceTurnAtStop: config.forceTurnAtStop,
    clock: systemClock,
    build: BUILD,
    measureMs: steadyMs,
  });
}
