import { checkMembers } from '../../core/base/check-members.ts';
import { invalidArgument } from '../../core/base/error.ts';
import { present } from '../../core/base/json.ts';
import type { AgentIdentity } from '../../core/records/agent-event.ts';
import type { Run } from '../../core/run/run.ts';

/** Options of every adapter. */
export interface AdapterOptions {
  /**
   * Handling of an internal error of coxswain. `record` (default): the error is counted in `health()` and recorded, and the
   * agent continues as without coxswain. `throw`: the error is thrown into the host's code; use it to develop adapters.
   */
  readonly onError?: 'record' | 'throw';
  /** Maximum number of characters of advice in one text; default 9,000. Advice that does not fit is recorded as undelivered. */
  readonly maxChars?: number;
}

/**
 * Checks the run and the options passed by JavaScript callers.
 *
 * @param own  the options of this adapter besides `AdapterOptions`
 * @throws CoxswainError "invalid-argument"
 */
export function checkAdapter<Options extends object>(
  name: string,
  run: Run | undefined,
  options: Options,
  own: Readonly<Record<Exclude<keyof Options, keyof AdapterOptions>, true>>,
): void {
  if (typeof run?.emit !== 'function')
    throw invalidArgument(`${name} needs a run, such as createCoxswain().startRun()`);
  checkMembers(name, options, { onError: true, maxChars: true, ...own });
}

/** The parts of an agent's identity that the SDK reports. */
export type KnownIdentity = Partial<Pick<AgentIdentity, 'conversationId' | 'agentName' | 'modelId'>>;

/** Returns the run's identity, extended with newly reported fields. */
export function identityOf(run: Run, known: KnownIdentity): AgentIdentity {
  const { id: runId, parentRunId, depth } = run;
  return { runId, ...present({ parentRunId }), depth, ...known };
}
