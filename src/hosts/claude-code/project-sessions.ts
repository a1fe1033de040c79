import { systemClock } from '../../base/clock.ts';
import { steadyMs } from '../../base/steady-ms.ts';
import { readResult } from '../../steering/read-result.ts';
import { createFingerprint } from '../../redaction/fingerprint.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { BUILD } from './build.ts';
import { ClaudeSessions, type ClaudeSessionsOptions } from './claude-sessions.ts';
import type { HookFault } from './fault-log.ts';
import type { HookConfig } from './hook-config.ts';

/** The first evaluation of a process includes compiling, which may exceed the usual limit of 50 ms. */
const PROVIDER_TIME_LIMIT_MS = 500;

/** Dependencies of a project's sessions, besides its configuration. */
export interface ProjectSetup extends Pick<ClaudeSessionsOptions, 'store' | 'projectFolder' | 'memory' | 'onStored'> {
  readonly redact: ClaudeSessionsOptions['redact'];
}

/**
 * The redaction of payloads by the project's configuration.
 *
 * @param onFault  receives the failure of a redaction rule
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

/** The sessions of a project by its configuration, for a hook process and for the server. @throws CoxswainError as `ClaudeSessions` */
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
