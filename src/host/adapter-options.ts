import { present } from '../base/present.ts';
import type { AgentIdentity } from '../records/agent-event.ts';
import type { Run } from '../run/run.ts';

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

/** The parts of an agent's identity that the SDK reports. */
export type KnownIdentity = Partial<Pick<AgentIdentity, 'conversationId' | 'agentName' | 'modelId'>>;

/** Returns the run's identity, extended with newly reported fields. */
export function identityOf(run: Run, known: KnownIdentity): AgentIdentity {
  const { id: runId, parentRunId, depth } = run;
  return { runId, ...present({ parentRunId }), depth, ...known };
}
