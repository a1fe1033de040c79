import type { Budget } from '../base/budget.ts';
import type { TimeSpan } from '../base/deadline.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import { type ModelPrices, PRICE_SHAPES } from '../records/answer-cost.ts';
import { expectedText, fitsShape, foundText } from '../base/shape.ts';
import { checkList, checkMembers } from '../base/check-members.ts';
import { invalidArgument } from '../base/error.ts';
import { checkConfigs } from '../steering/prompt/define-prompt.ts';
import type { RecordQueueOptions } from '../recorder/record-queue-options.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';

/** A child inherits the deadline, the budget (shared), the providers of the prompt and the conversation. */
export interface ChildOptions {
  /** Default: a random id. */
  readonly runId?: string;
  /** Default: the parent's, or an empty prompt `run/default`. A prompt without providers gets those of the parent's. */
  readonly prompt?: PromptTemplate;
  /** A duration from now, or Unix milliseconds. The earlier of this deadline and the parent's deadline applies. */
  readonly deadline?: TimeSpan | { readonly atMs: number };
  /** An absent field: no limit. A child with its own budget does not use its parent's, which still counts its usage. */
  readonly budget?: Budget;
  /** The task of the agent, for detectors such as drift. */
  readonly task?: string;
  readonly conversationId?: string;
  readonly agentName?: string;
  readonly modelId?: string;
  /** The agent program whose hooks report the run, such as `codex`. */
  readonly host?: string;
  /** True if the child continues the parent's task. A value in `task` takes precedence. Default false. */
  readonly handoff?: boolean;
  /** Changes the options of descendants, also of those that adapters start. A fault is recorded and changes nothing. */
  readonly children?: (child: ChildOptions) => ChildOptions;
}

export interface OpenRunOptions {
  /** Options for starting the run if it is not stored. Default: a run that is not stored is an error. */
  readonly start?: Omit<ChildOptions, 'runId'>;
  /** Every prompt of the run. If the records name no prompt, the first one is active. Default: the prompt of `start`. */
  readonly prompts?: readonly PromptTemplate[];
  /** The trigger in the `run_resumed` record; default `open`. */
  readonly trigger?: string;
}

/** This type does not compile if the options have a member that is missing from the table. */
type OnlyKnown<Options, Member> = Options & Readonly<Record<Exclude<keyof Options, Member>, never>>;
type OwnMember = 'store' | 'redaction' | 'prices' | 'clock' | 'newRunId' | 'measureMs';
type CoxswainMember = keyof SteeringOptions | keyof RecordQueueOptions | OwnMember;
type RunMember = keyof ChildOptions | 'parent';

// The compiler requires every member here.
const COXSWAIN: Readonly<Record<CoxswainMember, true>> = {
  store: true,
  redaction: true,
  prices: true,
  clock: true,
  newRunId: true,
  measureMs: true,
  feedback: true,
  observers: true,
  guidance: true,
  models: true,
  delivery: true,
  cadence: true,
  noise: true,
  maxGuidancePerTurn: true,
  mode: true,
  holdout: true,
  stop: true,
  detectors: true,
  tools: true,
  slices: true,
  retain: true,
  madeFrom: true,
  providerTimeLimitMs: true,
  onFailure: true,
  overflow: true,
  maxQueued: true,
  maxQueuedBytes: true,
  retryForMs: true,
  flushTimeLimitMs: true,
  readyTimeLimitMs: true,
  timers: true,
  random: true,
};
const RUN: Readonly<Record<RunMember, true>> = {
  parent: true,
  runId: true,
  prompt: true,
  deadline: true,
  budget: true,
  task: true,
  conversationId: true,
  agentName: true,
  modelId: true,
  host: true,
  handoff: true,
  children: true,
};
const BUDGET = { calls: true, tokens: true, costUsd: true } as const;
const PRICE = { ...PRICE_SHAPES, source: true, checked: true } as const;

/** Checks the options passed by JavaScript callers. Throws CoxswainError "invalid-argument". */
export function checkCoxswainOptions<
  Options extends SteeringOptions & { readonly store?: unknown; readonly prices?: ModelPrices },
>(options: OnlyKnown<Options, CoxswainMember>): void {
  checkMembers('createCoxswain', options, COXSWAIN);
  const { feedback, observers, guidance, prices, store } = options;
  checkPrices(prices);
  if (store !== undefined && (typeof store !== 'object' || store === null)) {
    throw invalidArgument(`store must be a store, such as sqliteStore('runs.db'), got ${JSON.stringify(store)}`);
  }
  if (
    store !== undefined &&
    ['append', 'flush', 'close'].some((name) => typeof Reflect.get(store, name) !== 'function')
  )
    throw invalidArgument('store must have the functions append, flush and close; sinkOf makes one of a function');
  for (const name of ['models', 'detectors', 'slices'] as const) checkList(name, options[name]);
  checkConfigs({
    feedback: ['feedback', feedback],
    observers: ['observers', observers],
    guidance: ['guidance', guidance],
  });
}

function checkPrices(prices: ModelPrices = {}): void {
  for (const [model, price] of Object.entries(prices)) {
    const name = `prices[${JSON.stringify(model)}]`;
    checkMembers(name, price, PRICE);
    for (const [member, shape] of Object.entries(PRICE_SHAPES)) {
      const value: unknown = Reflect.get(price, member);
      if (value !== undefined && !fitsShape(value, shape))
        throw invalidArgument(`${name}.${member} must be ${expectedText(shape)}, got ${foundText(value)}`);
    }
  }
}

export function checkRunOptions<Options extends ChildOptions>(options: OnlyKnown<Options, RunMember>): void {
  checkMembers('startRun', options, RUN);
  const { budget, deadline } = options;
  if (deadline !== undefined && (typeof deadline !== 'object' || deadline === null)) {
    throw invalidArgument(`deadline must be such as { minutes: 20 } or { atMs }, got ${JSON.stringify(deadline)}`);
  }
  if (budget !== undefined) checkMembers('budget', budget, BUDGET);
}

export function checkPrompt(prompt: PromptTemplate | undefined): void {
  if (typeof prompt?.name !== 'string') throw invalidArgument('usePrompt needs a prompt, as definePrompt returns it');
}
