import { checkList, checkMembers } from '../base/check-members.ts';
import { invalidArgument } from '../base/error.ts';
import type { FeedbackTrigger } from '../steering/prompt/feedback-trigger.ts';
import type { GuidanceProviderConfig } from '../steering/prompt/guidance-provider.ts';
import type { RecordQueueOptions } from '../recorder/record-queue-options.ts';
import type { SteeringOptions } from '../steering/steering-options.ts';
import type { ChildOptions } from './run-options.ts';

type Known<Options> = Readonly<Record<keyof Options, true>>;
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
  spillFolder: true,
  maxSpillBytes: true,
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
const TRIGGER: Known<FeedbackTrigger> = {
  everyNCalls: true,
  everyNSeconds: true,
  onSessionEvent: true,
  onPattern: true,
  onFileCreated: true,
};
const FEEDBACK = { provider: true, trigger: true } as const;
const GUIDANCE: Known<GuidanceProviderConfig> = {
  provider: true,
  maxPerTurn: true,
  minConfidence: true,
  decisionPoints: true,
  cooldownTurns: true,
  maxPerRun: true,
};
const BUDGET = { calls: true, tokens: true, costUsd: true } as const;

/** Checks the options passed by JavaScript callers. @throws CoxswainError "invalid-argument" */
export function checkCoxswainOptions<Options extends SteeringOptions & { readonly store?: unknown }>(
  options: OnlyKnown<Options, CoxswainMember>,
): void {
  checkMembers('createCoxswain', options, COXSWAIN);
  const { feedback, guidance, store } = options;
  if (store !== undefined && (typeof store !== 'object' || store === null)) {
    throw invalidArgument(
      `store must be a store, such as sqliteStore('.coxswain/runs.db'), got ${JSON.stringify(store)}`,
    );
  }
  if (
    store !== undefined &&
    ['append', 'flush', 'close'].some((name) => typeof Reflect.get(store, name) !== 'function')
  )
    throw invalidArgument('store must have the functions append, flush and close');
  for (const name of ['feedback', 'observers', 'guidance', 'models', 'detectors', 'slices'] as const)
    checkList(name, options[name]);
  for (const [at, config] of (feedback ?? []).entries()) {
    checkMembers(`feedback[${at}]`, config, FEEDBACK);
    checkProvider(`feedback[${at}]`, config.provider);
    if (config.trigger !== undefined) checkMembers(`feedback[${at}].trigger`, config.trigger, TRIGGER);
  }
  for (const [at, config] of (guidance ?? []).entries()) {
    checkMembers(`guidance[${at}]`, config, GUIDANCE);
    checkProvider(`guidance[${at}]`, config.provider);
  }
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

function checkProvider(name: string, provider: unknown): void {
  if (typeof provider === 'object' && provider !== null && 'name' in provider) return;
  throw invalidArgument(`${name}.provider must be a provider, such as deadlineFeedback()`);
}
