import { present } from '../base/present.ts';
import type { Mutable } from '../base/mutable.ts';
import { addUsage, type Budget, type BudgetUsage } from '../base/budget.ts';
import { deadlineAfter, type Deadline, type TimeSpan } from '../base/deadline.ts';
import { CoxswainError } from '../base/error.ts';
import { textOfContent, type StoredMessage } from '../records/stored-message.ts';
import type {
  ChildEnded,
  Evaluation,
  RunIdentified,
  RunStarted,
  SteeringStart,
  StoredBudget,
  TrajectoryPayload,
} from '../records/trajectory-record.ts';
import { budgetStop, stuckStop, type StopPolicy, type StopRequest } from '../steering/stop-policy.ts';
import type { StuckStretch } from '../steering/stuck-stretch.ts';

/** What is known of a run besides its calls: limits, use, and the model's last words. Plain JSON. */
export interface RunSituation {
  readonly promptName: string;
  /** The run's part in an experiment; absent where there is none. */
  readonly holdout?: SteeringStart['holdout'];
  /** Absent while the agent is not stuck. */
  readonly stretch?: StuckStretch | undefined;
  /** The host is asked to stop the run. */
  readonly stop?: StopRequest | undefined;
  readonly deadlineAtMs: number | null;
  /** Absent: the run began with its deadline. */
  readonly deadlineSetAtMs?: number;
  readonly budget: Budget;
  /** Added up from the usage of the answers, until the host states its own. */
  readonly tokens: number | null;
  readonly costUsd: number | null;
  /** What runs below used up to their ends; absent while none ended. */
  readonly below?: BudgetUsage;
  /** The beginning of what the agent was asked to do: a run that it hands over to goes on with it. */
  readonly task?: string;
  readonly conversationId?: string;
  readonly agentName?: string;
  readonly lastResponse: string | null;
  readonly renderedPrompt: string | null;
}

/** The last answer is for classifiers, which look at its beginning. */
const RESPONSE_CHARS = 8_000;
const TASK_CHARS = 8_000;

/** A run of which nothing is known yet. */
export const EMPTY_SITUATION: RunSituation = {
  promptName: '',
  deadlineAtMs: null,
  budget: {},
  tokens: null,
  costUsd: null,
  lastResponse: null,
  renderedPrompt: null,
};

/** The situation after the run began, more became known of it, or a run below it ended. */
export function begun(situation: RunSituation, payload: RunStarted | RunIdentified | ChildEnded): RunSituation {
  if (payload.kind === 'child_ended') {
    return { ...situation, below: addUsage(situation.below ?? {}, fromStoredBudget(payload.usage)) };
  }
  if (payload.kind === 'run_identified') return identified(situation, payload);
  const { identity, steering, task } = payload;
  return {
    ...identified(situation, identity),
    ...present({ task: task?.slice(0, TASK_CHARS) }),
    ...(steering === undefined ? {} : steered(steering)),
  };
}

function steered(steering: SteeringStart): Partial<RunSituation> {
  return {
    promptName: steering.prompt_name,
    deadlineAtMs: steering.deadline_at_unix_ms ?? null,
    budget: steering.budget === undefined ? {} : fromStoredBudget(steering.budget),
    ...present({ holdout: steering.holdout }),
  };
}

function identified(situation: RunSituation, known: Omit<RunIdentified, 'kind'>): RunSituation {
  const { agent_name: agentName, conversation_id: conversationId } = known;
  return {
    ...situation,
    ...present({ conversationId, agentName }),
  };
}

/** The situation after the model answered. */
export function answered(
  situation: RunSituation,
  message: StoredMessage & { readonly role: 'assistant' },
): RunSituation {
  const { usage } = message;
  const tokens = usage === undefined ? undefined : sum(usage.input_tokens, usage.output_tokens);
  return {
    ...situation,
    lastResponse: textOfContent(message.content).slice(0, RESPONSE_CHARS),
    tokens: sum(situation.tokens ?? undefined, tokens) ?? null,
    costUsd: sum(situation.costUsd ?? undefined, usage?.cost_usd) ?? null,
  };
}

/** The situation with what the host tells where it asks for advice. */
export function asked(situation: RunSituation, evaluation: Evaluation): RunSituation {
  const { last_response: lastResponse, rendered_prompt: renderedPrompt } = evaluation;
  if (lastResponse === undefined && renderedPrompt === undefined) return situation;
  return {
    ...situation,
    lastResponse: lastResponse ?? situation.lastResponse,
    renderedPrompt: renderedPrompt ?? situation.renderedPrompt,
  };
}

function sum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0);
}

/** What the run itself used, as its records add up. */
export function ownUsage({ costUsd, tokens }: RunSituation, calls: number): BudgetUsage {
  const usage: Mutable<BudgetUsage> = { calls };
  if (tokens !== null) usage.tokens = tokens;
  if (costUsd !== null) usage.costUsd = costUsd;
  return usage;
}

/**
 * What was used of the run's budget so far: by itself and by the runs that share it, or what the host states at this point,
 * which counts all of them.
 */
export function knownUsage(
  situation: RunSituation,
  calls: number,
  { shared_usage: shared, usage: stated }: Pick<Evaluation, 'shared_usage' | 'usage'>,
): BudgetUsage {
  const others = shared === undefined ? situation.below : fromStoredBudget(shared);
  const own = ownUsage(situation, calls);
  const usage = others === undefined ? own : addUsage(own, others);
  return stated === undefined ? usage : { ...usage, ...fromStoredBudget(stated) };
}

/** The run's deadline, if it has one. */
export function deadlineOf(situation: RunSituation): Deadline | undefined {
  const { deadlineAtMs: atMs, deadlineSetAtMs: setAtMs } = situation;
  return atMs === null ? undefined : { atMs, ...present({ setAtMs }) };
}

/**
 * A deadline as stored: a span from `nowMs`, Unix milliseconds, or none.
 *
 * @throws CoxswainError "invalid-argument" for one that cannot be, such as NaN
 */
export function storedDeadline(
  deadline: TimeSpan | Deadline | undefined | null,
  nowMs: number,
): { readonly deadline_at_unix_ms?: number } {
  if (deadline === undefined || deadline === null) return {};
  if (!('atMs' in deadline)) return { deadline_at_unix_ms: deadlineAfter(nowMs, deadline).atMs };
  const { atMs } = deadline;
  if (Number.isFinite(atMs) && atMs >= 0) return { deadline_at_unix_ms: atMs };
  throw new CoxswainError('invalid-argument', `a deadline is a number of Unix milliseconds, got ${String(atMs)}`);
}

/** A budget as stored. */
export function toStoredBudget(budget: Budget): StoredBudget {
  return {
    ...present({ calls: budget.calls, tokens: budget.tokens, cost_usd: budget.costUsd }),
  };
}

function fromStoredBudget(stored: StoredBudget): Budget {
  return {
    ...present({ calls: stored.calls, tokens: stored.tokens, costUsd: stored.cost_usd }),
  };
}

/** Whether the host is asked to stop the run after a record, where a policy says when. */
export function stopAfter(
  payload: TrajectoryPayload,
  {
    calls,
    policy = {},
    situation,
  }: { readonly situation: RunSituation; readonly policy: StopPolicy | undefined; readonly calls: number },
): StopRequest | undefined {
  const { budget, stop, stretch } = situation;
  if (payload.kind === 'run_resumed') return undefined;
  if (stop !== undefined) return stop;
  if (payload.kind === 'tool_ended') return stuckStop(policy, { calls, stretch });
  return payload.kind === 'evaluation'
    ? budgetStop(policy, { budget, usage: knownUsage(situation, calls, payload) })
    : undefined;
}
