import { checkList, checkMembers } from '../base/check-members.ts';
import { invalidArgument } from '../base/error.ts';
import { checkConfigs } from '../steering/prompt/check-configs.ts';
import type { RecordQueueOptions } from '../recorder/record-queue-options.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import type { ChildOptions } from './run-options.ts';

/** This type does not compile if the options have a member that is missing from the table. */
type OnlyKnown<Options, Member> = Options & Readonly<Record<Exclude<keyof Options, Member>, never>>;
type OwnMember = 'store' | 'redaction' | 'clock' | 'newRunId' | 'measureMs';
type CoxswainMember = keyof SteeringOptions | keyof RecordQueueOptions | OwnMember;
type RunMember = keyof ChildOptions | 'parent';

// The compiler requires every member here.
const COXSWAIN: Readonly<Record<CoxswainMember, true>> = {
  store: true,
  redaction: true,
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

/** Checks the options passed by JavaScript callers. @throws CoxswainError "invalid-argument" */
export function checkCoxswainOptions<Options extends SteeringOptions & { readonly store?: unknown }>(
  options: OnlyKnown<Options, CoxswainMember>,
): void {
  checkMembers('createCoxswain', options, COXSWAIN);
  const { feedback, observers, guidance, store } = options;
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

/** Checks the options of a run. @throws CoxswainError "invalid-argument" */
export function checkRunOptions<Options extends ChildOptions>(options: OnlyKnown<Options, RunMember>): void {
  checkMembers('startRun', options, RUN);
  const { budget, deadline } = options;
  if (deadline !== undefined && (typeof deadline !== 'object' || deadline === null)) {
    throw invalidArgument(`deadline must be such as { minutes: 20 } or { atMs }, got ${JSON.stringify(deadline)}`);
  }
  if (budget !== undefined) checkMembers('budget', budget, BUDGET);
}

/** Checks the prompt of a run. @throws CoxswainError "invalid-argument" */
export function checkPrompt(prompt: PromptTemplate | undefined): void {
  if (typeof prompt?.name !== 'string') throw invalidArgument('usePrompt needs a prompt, as definePrompt returns it');
}
