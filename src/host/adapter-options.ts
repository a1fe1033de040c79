import { present } from '../base/present.ts';
import type { AgentIdentity } from '../records/agent-event.ts';
import type { Run } from '../run/run.ts';

/** What every adapter can be told. */
export interface AdapterOptions {
  /**
   * What a fault of ours does: `record` (default) counts it in `health()`, records it, and lets the agent go on as if
   * coxswain were not there; `throw` throws it into the host's code, for those who develop with the adapter.
   */
  readonly onError?: 'record' | 'throw';
  /** Most characters of advice in one piece of text; default 9,000. What does not fit is recorded as undelivered. */
  readonly maxChars?: number;
}

/** What an adapter knows of who runs, as far as its SDK tells. */
export type KnownIdentity = Partial<Pick<AgentIdentity, 'conversationId' | 'agentName' | 'modelId'>>;

/** `identity` as an event, for the moment an adapter learns more of who runs. */
export function identityOf(run: Run, known: KnownIdentity): AgentIdentity {
  const { id: runId, parentRunId, depth } = run;
  return { runId, ...present({ parentRunId }), depth, ...known };
}
