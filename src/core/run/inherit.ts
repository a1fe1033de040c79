import { present } from '../base/json.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';
import { earlier } from './run-family.ts';
import type { ChildOptions } from './run-options.ts';
import { DEFAULT_PROMPT } from './run-speakers-by-prompt.ts';
import { deadlineAtMs, type RunSituation } from './run-situation.ts';

export interface Heritage {
  readonly prompt: PromptTemplate;
  readonly situation: RunSituation;
}

export interface Beginning {
  readonly options: ChildOptions;
  readonly prompt: PromptTemplate;
  /** The run's own deadline in Unix milliseconds. Undefined if the run inherits its parent's deadline. */
  readonly ownDeadlineAtMs: number | undefined;
  readonly sharesBudget: boolean;
}

/**
 * The earlier deadline, the budget, the providers of the prompt, the conversation; with `handoff` also the task.
 * @throws CoxswainError "invalid-argument" for a deadline outside its range
 */
export function inherit(options: ChildOptions, parent: Heritage | undefined, nowMs: number): Beginning {
  const ownDeadlineMs = deadlineAtMs(options.deadline, nowMs);
  if (parent === undefined) {
    return { options, prompt: options.prompt ?? DEFAULT_PROMPT, ownDeadlineAtMs: ownDeadlineMs, sharesBudget: false };
  }
  const { budget, conversationId, task } = parent.situation;
  const atMs = earlier(ownDeadlineMs, parent.situation.deadlineAtMs);
  return {
    prompt: options.prompt === undefined ? parent.prompt : withSpeakers(options.prompt, parent.prompt),
    ownDeadlineAtMs: ownDeadlineMs,
    sharesBudget: options.budget === undefined,
    options: {
      ...present({ conversationId }),
      ...(task === undefined || options.handoff !== true ? {} : { task }),
      ...(Object.values(budget).some((limit) => limit !== undefined) ? { budget } : {}),
      ...options,
      ...(atMs === null ? {} : { deadline: { atMs } }),
    },
  };
}

function withSpeakers(prompt: PromptTemplate, parent: PromptTemplate): PromptTemplate {
  const { feedbackProviders, guidanceProviders, observers } = prompt;
  if (feedbackProviders.length + guidanceProviders.length + observers.length > 0) return prompt;
  const { cadence, delivery } = parent;
  return {
    ...prompt,
    feedbackProviders: parent.feedbackProviders,
    guidanceProviders: parent.guidanceProviders,
    observers: parent.observers,
    cadence,
    delivery,
  };
}
