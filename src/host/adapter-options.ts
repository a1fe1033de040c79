import { present } from '../base/present.ts';
import type { AgentIdentity } from '../records/agent-event.ts';
import type { Run } from '../run/run.ts';

/** Options of every adapter. */
export interface AdapterOptions {
  /**
   * Effect of a fault in coxswain: `record` (default) counts it in `health()`, records it, and lets the agent go on as
   * without coxswain; `throw` throws it into the host's code, for adapter development.
   */
  readonly onError?: 'record' | 'throw';
  /** Most characters of advice in one text; default 9,000. Advice that does not fit is recorded as undelivered. */
  readonly maxChars?: number;
}

/** The parts of an agent's identity that the SDK reports. */
export type KnownIdentity = Partial<Pick<AgentIdentity, 'conversationId' | 'agentName' | 'modelId'>>;

/** The run's identity with newly learned parts, for an event. */
export function identityOf(run: Run, known: KnownIdentity): AgentIdentity {
  const { id: runId, parentRunId, depth } = run;
  return { runId, ...present({ parentRunId }), depth, ...known };
}
