import type { Mutable } from '../base/mutable.ts';
import type { Budget, BudgetUsage } from '../base/budget.ts';
import { deadlineAfter, type Deadline, type TimeSpan } from '../base/deadline.ts';
import { CoxswainError } from '../base/error.ts';
import { textOfContent, type StoredMessage } from '../records/stored-message.ts';
import type { Evaluation, SteeringStart, StoredBudget } from '../records/trajectory-record.ts';

/** What is known of a run besides its calls: limits, use, and the model's last words. Plain JSON. */
export interface RunSituation {
  readonly promptName: string;
  /** The run's part in an experiment; absent where there is none. */
  readonly holdout?: SteeringStart['holdout'];
  readonly deadlineAtMs: number | null;
  /** Absent: the run began with its deadline. */
  readonly deadlineSetAtMs?: number;
  readonly budget: Budget;
  /** Added up from the usage of the answers, until the host states its own. */
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly lastResponse: string | null;
  readonly renderedPrompt: string | null;
}

/** The last answer is for classifiers, which look at its beginning. */
const RESPONSE_CHARS = 8_000;

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

/** The situation after the run began under `steering`. */
export function begun(situation: RunSituation, steering: SteeringStart): RunSituation {
  return {
    ...situation,
    promptName: steering.prompt_name,
    deadlineAtMs: steering.deadline_at_unix_ms ?? null,
    budget: steering.budget === undefined ? {} : fromStoredBudget(steering.budget),
    ...(steering.holdout === undefined ? {} : { holdout: steering.holdout }),
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

/** What was used so far: what the host states at this point, else what the records add up to. */
export function usageOf(situation: RunSituation, calls: number, stated: StoredBudget | undefined): BudgetUsage {
  const usage: Mutable<BudgetUsage> = { calls };
  if (situation.tokens !== null) usage.tokens = situation.tokens;
  if (situation.costUsd !== null) usage.costUsd = situation.costUsd;
  return stated === undefined ? usage : { ...usage, ...fromStoredBudget(stated) };
}

/** The run's deadline, if it has one. */
export function deadlineOf(situation: RunSituation): Deadline | undefined {
  const { deadlineAtMs: atMs, deadlineSetAtMs: setAtMs } = situation;
  return atMs === null ? undefined : { atMs, ...(setAtMs === undefined ? {} : { setAtMs }) };
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
    ...(budget.calls === undefined ? {} : { calls: budget.calls }),
    ...(budget.tokens === undefined ? {} : { tokens: budget.tokens }),
    ...(budget.costUsd === undefined ? {} : { cost_usd: budget.costUsd }),
  };
}

function fromStoredBudget(stored: StoredBudget): Budget {
  return {
    ...(stored.calls === undefined ? {} : { calls: stored.calls }),
    ...(stored.tokens === undefined ? {} : { tokens: stored.tokens }),
    ...(stored.cost_usd === undefined ? {} : { costUsd: stored.cost_usd }),
  };
}
