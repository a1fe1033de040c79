import { answerCost } from '../records/answer-cost.ts';
import { MODEL_PRICES } from '../records/model-prices.ts';
import { present, type Mutable } from '../base/json.ts';
import { contextAfter, type ContextSize } from '../facts/context-tokens.ts';
import { limitIn, type LimitUsed } from '../facts/limit-used.ts';
import { addUsage, type Budget, type BudgetUsage, checkBudget } from '../base/budget.ts';
import { type Deadline, deadlineAfter, type TimeSpan } from '../base/deadline.ts';
import { invalidArgument } from '../base/error.ts';
import { textOfContent } from '../records/agent-message.ts';
import type {
  ChildEnded,
  Evaluation,
  RunIdentified,
  RunStarted,
  SteeringStart,
  StoredBudget,
  TrajectoryPayload,
} from '../records/trajectory-record.ts';
import {
  budgetStop,
  type StopPolicy,
  type StopRequest,
  stuckStop,
  type StuckStretch,
} from '../steering/stop-policy.ts';
import { type AdviceLedger, EMPTY_LEDGER } from '../steering/advice/advice.ts';
import { EMPTY_GUIDANCE_STATE } from '../steering/guidance/evaluate-guidance.ts';
import type { GuidanceState } from '../steering/guidance/guidance-slices.ts';
import { holdoutArmOf, type HoldoutArm } from '../steering/holdout.ts';
import type { ResolvedSteering } from '../steering/resolve-steering.ts';
import type { RunLogIdentity } from '../recorder/run-log.ts';
import { toStoredIdentity } from '../recorder/to-payload.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import type { ChildOptions } from './run-options.ts';
import { DEFAULT_PROMPT } from './run-speakers-by-prompt.ts';

/** The state of a run except its calls: limits, usage, and the model's last response. Plain JSON. */
export interface RunSituation {
  readonly promptName: string;
  /** Absent without an experiment. */
  readonly holdout?: SteeringStart['holdout'];
  /** Absent while the agent is not stuck. */
  readonly stretch?: StuckStretch | undefined;
  /** Set while the host is asked to stop the run. */
  readonly stop?: StopRequest | undefined;
  readonly deadlineAtMs: number | null;
  /** Absent if the run started with this deadline. */
  readonly deadlineSetAtMs?: number;
  readonly budget: Budget;
  /** Sum of the usage in the responses. */
  readonly tokens: number | null;
  readonly costUsd: number | null;
  /** Absent before the first response with tokens, and after a compaction. */
  readonly context?: ContextSize | undefined;
  /** The limits of the model's provider that the host reported, one per window. */
  readonly limits?: readonly LimitUsed[];
  /** Usage of descendants that have ended; absent if no descendant has ended. */
  readonly below?: BudgetUsage;
  /** Beginning of the task, which a handoff passes to the child. */
  readonly task?: string;
  readonly conversationId?: string;
  readonly agentName?: string;
  readonly modelId?: string;
  readonly lastResponse: string | null;
  readonly renderedPrompt: string | null;
}

/** Classifiers read only the beginning of the last response. */
const RESPONSE_CHARS = 8_000;
const TASK_CHARS = 8_000;

export const EMPTY_SITUATION: RunSituation = {
  promptName: '',
  deadlineAtMs: null,
  budget: {},
  tokens: null,
  costUsd: null,
  lastResponse: null,
  renderedPrompt: null,
};

export function situationAfterStart(
  situation: RunSituation,
  payload: RunStarted | RunIdentified | ChildEnded,
): RunSituation {
  if (payload.kind === 'child_ended') {
    return { ...situation, below: addUsage(situation.below ?? {}, fromStoredBudget(payload.usage)) };
  }
  if (payload.kind === 'run_identified') return withIdentity(situation, payload);
  const { identity, steering, task } = payload;
  return {
    ...withIdentity(situation, identity),
    ...present({ task: task?.slice(0, TASK_CHARS) }),
    ...(steering === undefined ? {} : steeringSituation(steering)),
  };
}

function steeringSituation(steering: SteeringStart): Partial<RunSituation> {
  return {
    promptName: steering.prompt_name,
    deadlineAtMs: steering.deadline_at_unix_ms ?? null,
    budget: steering.budget === undefined ? {} : fromStoredBudget(steering.budget),
    ...present({ holdout: steering.holdout }),
  };
}

function withIdentity(situation: RunSituation, identity: Omit<RunIdentified, 'kind'>): RunSituation {
  const { agent_name: agentName, conversation_id: conversationId, model_id: modelId } = identity;
  return { ...situation, ...present({ conversationId, agentName, modelId }) };
}

export function situationAfterResponse(
  situation: RunSituation,
  payload: Extract<TrajectoryPayload, { readonly kind: 'message_appended' }>,
): RunSituation {
  const { message } = payload;
  if (message.role !== 'assistant') return situation;
  const { usage } = message;
  const tokens = usage === undefined ? undefined : sumOf(usage.input_tokens, usage.output_tokens);
  return {
    ...situation,
    context: contextAfter(situation.context, payload, situation.modelId),
    lastResponse: textOfContent(message.content).slice(0, RESPONSE_CHARS),
    tokens: sumOf(situation.tokens ?? undefined, tokens) ?? null,
    costUsd: sumOf(situation.costUsd ?? undefined, usage && answerCost(usage, message.model_id, MODEL_PRICES)) ?? null,
  };
}

/** Returns the same situation if the record reports no limit. */
export function situationAfterLimit(situation: RunSituation, payload: TrajectoryPayload): RunSituation {
  const limit = limitIn(payload);
  if (limit === undefined) return situation;
  const others = (situation.limits ?? []).filter(({ windowMinutes }) => windowMinutes !== limit.windowMinutes);
  return { ...situation, limits: [...others, limit] };
}

export function situationAtPoint(situation: RunSituation, evaluation: Evaluation): RunSituation {
  const { last_response: lastResponse, rendered_prompt: renderedPrompt } = evaluation;
  if (lastResponse === undefined && renderedPrompt === undefined) return situation;
  return {
    ...situation,
    lastResponse: lastResponse ?? situation.lastResponse,
    renderedPrompt: renderedPrompt ?? situation.renderedPrompt,
  };
}

function sumOf(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0);
}

export function ownUsage({ costUsd, tokens }: RunSituation, calls: number): BudgetUsage {
  const usage: Mutable<BudgetUsage> = { calls };
  if (tokens !== null) usage.tokens = tokens;
  if (costUsd !== null) usage.costUsd = costUsd;
  return usage;
}

/** Including the runs that share the budget. A total stated by the host takes precedence. */
export function knownUsage(
  situation: RunSituation,
  calls: number,
  { shared_usage: sharedUsage, usage: statedUsage }: Pick<Evaluation, 'shared_usage' | 'usage'>,
): BudgetUsage {
  const childUsage = sharedUsage === undefined ? situation.below : fromStoredBudget(sharedUsage);
  const runUsage = ownUsage(situation, calls);
  const usage = childUsage === undefined ? runUsage : addUsage(runUsage, childUsage);
  return statedUsage === undefined ? usage : { ...usage, ...fromStoredBudget(statedUsage) };
}

export function deadlineOf(situation: RunSituation): Deadline | undefined {
  const { deadlineAtMs: atMs, deadlineSetAtMs: setAtMs } = situation;
  return atMs === null ? undefined : { atMs, ...present({ setAtMs }) };
}

/** A duration starts at `nowMs`. Throws CoxswainError "invalid-argument" for an invalid deadline, such as NaN. */
export function deadlineAtMs(deadline: TimeSpan | Deadline | undefined, nowMs: number): number | undefined {
  if (deadline === undefined) return undefined;
  if (!('atMs' in deadline)) return deadlineAfter(nowMs, deadline).atMs;
  if (Number.isFinite(deadline.atMs) && deadline.atMs >= 0) return deadline.atMs;
  throw invalidArgument(`a deadline is a number of Unix milliseconds, got ${String(deadline.atMs)}`);
}

/** A duration from `nowMs`, or Unix milliseconds. Throws CoxswainError as `deadlineAtMs`. */
export function storedDeadline(
  deadline: TimeSpan | Deadline | undefined | null,
  nowMs: number,
): { readonly deadline_at_unix_ms?: number } {
  const atMs = deadlineAtMs(deadline ?? undefined, nowMs);
  return atMs === undefined ? {} : { deadline_at_unix_ms: atMs };
}

export function toStoredBudget({ calls, tokens, costUsd }: Budget): StoredBudget {
  return present({ calls, tokens, cost_usd: costUsd });
}

function fromStoredBudget({ calls, tokens, cost_usd: costUsd }: StoredBudget): Budget {
  return present({ calls, tokens, costUsd });
}

export function stopAfter(
  payload: TrajectoryPayload,
  situation: RunSituation,
  calls: number,
  policy: StopPolicy = {},
): StopRequest | undefined {
  const { budget, stop, stretch } = situation;
  if (payload.kind === 'run_resumed') return undefined;
  if (stop !== undefined) return stop;
  if (payload.kind === 'tool_ended') return stuckStop(policy, { calls, stretch });
  return payload.kind === 'evaluation'
    ? budgetStop(policy, { budget, usage: knownUsage(situation, calls, payload) })
    : undefined;
}

/** A choice of a model that applies at the next evaluation. */
interface WaitingVerdict {
  readonly classifier: string;
  readonly instructionId: string;
  readonly confidence: number;
}

/** The steering state of a run that is neither in the session nor in the analysis. Plain JSON. */
export interface SteeringState {
  readonly situation: RunSituation;
  readonly ledger: AdviceLedger;
  readonly guidance: GuidanceState;
  /** Number of overruns by speaker key. A speaker is a provider or an observer. */
  readonly overruns: Readonly<Record<string, number>>;
  readonly verdicts: readonly WaitingVerdict[];
  /** What was held back since it was last said: `provider subject` and the reasons. Absent in states of earlier versions. */
  readonly held?: Readonly<Record<string, readonly string[]>>;
}

export const EMPTY_STEERING: SteeringState = {
  situation: EMPTY_SITUATION,
  ledger: EMPTY_LEDGER,
  guidance: EMPTY_GUIDANCE_STATE,
  overruns: {},
  verdicts: [],
};

interface RunStart {
  readonly identity: RunLogIdentity;
  readonly steering: ResolvedSteering;
  /** Default: `DEFAULT_PROMPT`. */
  readonly prompt?: PromptTemplate;
  /** Unix milliseconds. A deadline that is a duration starts here. */
  readonly nowMs: number;
  /** The parent run, if it is in this process. The run inherits the parent's arm of an experiment. */
  readonly parent?: { readonly holdout: HoldoutArm | undefined } | undefined;
}

/** @throws CoxswainError "invalid-argument" for a deadline or budget outside its range */
export function runStarted(options: ChildOptions, start: RunStart): RunStarted {
  const { identity, steering, nowMs } = start;
  const holdout = holdoutOf(start);
  if (options.budget !== undefined) checkBudget(options.budget);
  return {
    kind: 'run_started',
    identity: toStoredIdentity({
      ...identity,
      ...present({ conversationId: options.conversationId, agentName: options.agentName, modelId: options.modelId }),
    }),
    ...present({ task: options.task, host: options.host }),
    steering: {
      prompt_name: (start.prompt ?? DEFAULT_PROMPT).name,
      ...present({ deadline_at_unix_ms: deadlineAtMs(options.deadline, nowMs) }),
      ...(options.budget === undefined ? {} : { budget: toStoredBudget(options.budget) }),
      configuration_hash: steering.configurationHash,
      mode: steering.mode,
      ...present({ holdout }),
    },
  };
}

function holdoutOf({ identity, steering, parent }: RunStart): HoldoutArm | undefined {
  // No advice is delivered in shadow mode, so an experiment would have nothing to compare.
  if (steering.mode === 'shadow') return undefined;
  return parent === undefined ? holdoutArmOf(steering.holdout, identity.parentRunId ?? identity.runId) : parent.holdout;
}
