/** Who a run is, as stored. A child run (a subagent) names its parent and lies one level deeper. */
export interface RunIdentity {
  readonly run_id: string;
  readonly parent_run_id?: string;
  /** 0 for a root run. */
  readonly depth: number;
  /** The host's own name for the conversation, such as a session id. */
  readonly conversation_id?: string;
  readonly agent_name?: string;
  readonly model_id?: string;
}
