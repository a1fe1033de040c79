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
   * The prompt in force at the start; default: the parent's, or one without sections named `run/default`. A prompt without
   * providers gets those of the parent's prompt.
   */
  readonly prompt?: PromptTemplate;
  /** A span from now, or Unix milliseconds. The earlier of this and the parent's deadline counts. */
  readonly deadline?: TimeSpan | { readonly atMs: number };
  /** Limits; an absent member has no limit. A child with its own budget does not draw on its parent's, which counts its usage. */
  readonly budget?: Budget;
  /** The task of the agent, for detectors such as drift. */
  readonly task?: string;
  readonly conversationId?: string;
  readonly agentName?: string;
  readonly modelId?: string;
  /** The agent program that reports the run by its hooks, such as `codex`. */
  readonly host?: string;
  /** The child continues the parent's task, unless `task` is set. Default false. */
  readonly handoff?: boolean;
  /**
   * Changes the options of descendants, including those that adapters start. If it throws, the fault is recorded and the
   * options are unchanged.
   */
  readonly children?: (child: ChildOptions) => ChildOptions;
}

export interface OpenRunOptions {
  /** Starts the run with these options if it is not stored; default: an error. */
  readonly start?: Omit<ChildOptions, 'runId'>;
  /** Every prompt of the run; the first is in force if its records name none. Default: the prompt of `start`. */
  readonly prompts?: readonly PromptTemplate[];
  /** Trigger of the `run_resumed` record; default `open`. */
  readonly trigger?: string;
}
