import type { Budget } from '../base/budget.ts';
import type { TimeSpan } from '../base/deadline.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';

/**
 * Options of a run. A child inherits from its parent: the deadline, the budget (shared), the providers of its prompt and the
 * conversation.
 */
export interface ChildOptions {
  /** Default: a random id. */
  readonly runId?: string;
  /**
   * The active prompt at the start. Default: the parent's prompt, or a prompt without sections named `run/default`. A
   * prompt without providers gets the providers of the parent's prompt.
   */
  readonly prompt?: PromptTemplate;
  /** A duration from now, or Unix milliseconds. The earlier of this deadline and the parent's deadline applies. */
  readonly deadline?: TimeSpan | { readonly atMs: number };
  /**
   * The limits. A field that is absent means no limit. A child with its own budget does not use its parent's budget, but
   * the parent counts the child's usage.
   */
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
  /**
   * Changes the options of descendants, including those that adapters start. If the function throws, the fault is recorded
   * and the options are unchanged.
   */
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
