import type { Budget } from '../base/budget.ts';
import type { TimeSpan } from '../base/deadline.ts';
import type { PromptTemplate } from '../steering/prompt/prompt-template.ts';

/** How a child run begins: as any run, below the one that starts it. */
export interface ChildOptions {
  /** Default: a random id. */
  readonly runId?: string;
  /** The prompt in force at the start; default: one without sections that is named `run/default`. */
  readonly prompt?: PromptTemplate;
  /** A time by which it should be done: a span from now, or Unix milliseconds. */
  readonly deadline?: TimeSpan | { readonly atMs: number };
  /** What it may use; what is absent has no limit. */
  readonly budget?: Budget;
  /** What the agent is asked to do: patterns such as drift compare with it. */
  readonly task?: string;
  readonly conversationId?: string;
  readonly agentName?: string;
  readonly modelId?: string;
}
