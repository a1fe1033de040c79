import type { Budget } from '../base/budget.ts';
import type { TimeSpan } from '../base/deadline.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';

/**
 * How a run begins. A run below another one has what is absent here from its parent: the deadline, the budget (shared), the
 * providers of its prompt and the conversation.
 */
export interface ChildOptions {
  /** Default: a random id. */
  readonly runId?: string;
  /**
   * The prompt in force at the start; default: the parent's, or one without sections that is named `run/default`. A prompt
   * without providers of its own has those of the parent's prompt.
   */
  readonly prompt?: PromptTemplate;
  /** A time by which it should be done: a span from now, or Unix milliseconds. Of two, the parent's too, the earlier counts. */
  readonly deadline?: TimeSpan | { readonly atMs: number };
  /** What it may use; what is absent has no limit. A budget of its own is its own alone; the parent's counts its use too. */
  readonly budget?: Budget;
  /** What the agent is asked to do: patterns such as drift compare with it. */
  readonly task?: string;
  readonly conversationId?: string;
  readonly agentName?: string;
  readonly modelId?: string;
  /** The agent program that reports the run by its hooks, such as `codex`. */
  readonly host?: string;
  /** The parent hands its task over: the child goes on with the parent's, unless `task` names another. Default false. */
  readonly handoff?: boolean;
  /**
   * Changes how runs below this one begin, whoever starts them, an adapter too: given what they would begin with, gives what
   * they begin with. Handed down to the runs below. Where it throws, the fault is recorded and nothing is changed.
   */
  readonly children?: (child: ChildOptions) => ChildOptions;
}

/** How a stored run is continued. */
export interface OpenRunOptions {
  /** How it begins where it is not stored yet; default: it is an error. */
  readonly start?: Omit<ChildOptions, 'runId'>;
  /** Every prompt that the run has used; the first is in force where its records name none. Default: the prompt of `start`. */
  readonly prompts?: readonly PromptTemplate[];
  /** Why it goes on, in your words, for its `run_resumed` record; default `open`. */
  readonly trigger?: string;
}
