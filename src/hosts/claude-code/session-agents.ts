import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { TrajectoryStore } from '../../core/store/trajectory-store.ts';

type Store = Pick<TrajectoryStore, 'transact'>;

export type SessionAgent = {
  readonly reportedCalls: number;
  readonly isOpen: boolean;
};

/** The most recently changed subagents of a session by run id. */
export type SessionAgents = Readonly<Record<string, SessionAgent>>;

const MAX_AGENTS = 256;

interface WithAgents {
  readonly agents?: SessionAgents;
}

export function withOpenAgent<State extends WithAgents>(state: State, runId: string): State {
  const { agents = {} } = state;
  const knownAgent = agents[runId];
  if (knownAgent?.isOpen === true) return state;
  return { ...state, agents: withAgent(agents, runId, { reportedCalls: 0, ...knownAgent, isOpen: true }) };
}

/** @param calls  number of calls since it started or last ended */
export function withEndedAgent<State extends WithAgents>(state: State, runId: string, calls: number): State {
  const { agents = {} } = state;
  const reportedCalls = (agents[runId]?.reportedCalls ?? 0) + calls;
  return { ...state, agents: withAgent(agents, runId, { reportedCalls, isOpen: false }) };
}

export function openAgents(agents: SessionAgents = {}): readonly string[] {
  return Object.entries(agents).flatMap(([runId, { isOpen }]) => (isOpen ? [runId] : []));
}

/** @throws CoxswainError as `store.transact` Cost: one read transaction per running subagent. */
export async function unreportedCalls(agents: SessionAgents, store: Store): Promise<number> {
  let calls = 0;
  for (const runId of openAgents(agents)) {
    calls += Math.max(0, ((await storedSummary(store, runId))?.calls ?? 0) - (agents[runId]?.reportedCalls ?? 0));
  }
  return calls;
}

export async function storedSummary(store: Store, runId: string): Promise<RunSummary | undefined> {
  return store.transact(runId, ({ summary }) => ({ records: [], result: summary }));
}

function withAgent(agents: SessionAgents, runId: string, agent: SessionAgent): SessionAgents {
  const { [runId]: _before, ...others } = agents;
  return Object.fromEntries([...Object.entries(others), [runId, agent] as const].slice(-MAX_AGENTS));
}
