import type { RunSummary } from '../../store/run-summary.ts';
import type { TrajectoryStore } from '../../store/trajectory-store.ts';

type Store = Pick<TrajectoryStore, 'transact'>;

/** A subagent as its session knows it. */
export type SessionAgent = {
  /** Calls that the `child_ended` records of the session count. */
  readonly reportedCalls: number;
  readonly isOpen: boolean;
};

/** The subagents of a session by run id, the last ones. */
export type SessionAgents = Readonly<Record<string, SessionAgent>>;

/** More subagents than this, and the one that changed longest ago is forgotten. */
const MAX_AGENTS = 256;

/** What a session remembers, as far as its subagents are concerned. */
interface WithAgents {
  readonly agents?: SessionAgents;
}

/** The subagent has begun, or goes on after its end. The same object if that is known. */
export function withOpenAgent<State extends WithAgents>(state: State, runId: string): State {
  const { agents = {} } = state;
  const known = agents[runId];
  if (known?.isOpen === true) return state;
  return { ...state, agents: changed(agents, runId, { reportedCalls: 0, ...known, isOpen: true }) };
}

/** The subagent has ended. @param calls  since it began or last ended */
export function withEndedAgent<State extends WithAgents>(state: State, runId: string, calls: number): State {
  const { agents = {} } = state;
  const reportedCalls = (agents[runId]?.reportedCalls ?? 0) + calls;
  return { ...state, agents: changed(agents, runId, { reportedCalls, isOpen: false }) };
}

/** Ids of the subagents that run. */
export function openAgents(agents: SessionAgents = {}): readonly string[] {
  return Object.entries(agents).flatMap(([runId, { isOpen }]) => (isOpen ? [runId] : []));
}

/**
 * Calls of running subagents that no record of the session counts yet.
 *
 * @throws CoxswainError as `store.transact`
 * Cost: a transaction that reads, for each that runs.
 */
export async function unreportedCalls(agents: SessionAgents, store: Store): Promise<number> {
  let calls = 0;
  for (const runId of openAgents(agents)) {
    calls += Math.max(0, ((await storedSummary(store, runId))?.calls ?? 0) - (agents[runId]?.reportedCalls ?? 0));
  }
  return calls;
}

/** The summary of a run as the store has it now. @throws CoxswainError as `store.transact` */
export async function storedSummary(store: Store, runId: string): Promise<RunSummary | undefined> {
  return store.transact(runId, ({ summary }) => ({ records: [], result: summary }));
}

function changed(agents: SessionAgents, runId: string, agent: SessionAgent): SessionAgents {
  const { [runId]: _before, ...others } = agents;
  return Object.fromEntries([...Object.entries(others), [runId, agent] as const].slice(-MAX_AGENTS));
}
