import { present } from '../base/present.ts';
import { checkBudget } from '../base/budget.ts';
import type { RunStarted } from '../records/trajectory-record.ts';
import { holdoutArmOf, type HoldoutArm } from '../steering/holdout.ts';
import type { ResolvedSteering } from '../steering/resolve-steering.ts';
import type { RunLogIdentity } from '../recorder/run-log.ts';
import { toStoredIdentity } from '../recorder/to-payload.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import type { ChildOptions } from './run-options.ts';
import { toStoredBudget, deadlineAtMs } from './run-situation.ts';
import { DEFAULT_PROMPT } from './run-speakers-by-prompt.ts';

export interface RunStart {
  readonly identity: RunLogIdentity;
  readonly steering: ResolvedSteering;
  /** Default: `DEFAULT_PROMPT`. */
  readonly prompt?: PromptTemplate;
  /** Unix milliseconds. A deadline that is a duration starts here. */
  readonly nowMs: number;
  /** The parent run, if it is in this process. The run inherits the parent's arm of an experiment. */
  readonly parent?: { readonly holdout: HoldoutArm | undefined } | undefined;
}

/**
 * Creates the first record of a run.
 *
 * @throws CoxswainError "invalid-argument" for a deadline or budget outside its range
 */
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
