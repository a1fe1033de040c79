import { AsyncLocalStorage } from 'node:async_hooks';
import type { Run } from '../run/run.ts';
import { endingAfterTrouble, troubleOf } from './run-outcome.ts';
import type { RunEnding } from '../records/trajectory-record.ts';

interface RunningTool {
  readonly parent: Run;
  readonly name: string;
  child: Run | undefined;
  isDone: boolean;
  hasFailed?: true;
}

/** A tool that runs in several steps. */
export interface ScopedTool {
  run<Result>(work: () => Result): Result;
  /** Ends the tool and the child run that it started. */
  leave(failure?: { readonly error: unknown }): void;
}

/**
 * Determines the current run if the SDK does not pass it. A model request from within a tool comes from a subagent. The
 * subagent's run is a child of the run that called the tool.
 */
export class RunScope {
  readonly #storage = new AsyncLocalStorage<RunningTool>();
  readonly #root: () => Run;

  /** @param root  the run outside of any tool */
  constructor(root: () => Run) {
    this.#root = root;
  }

  /** The run of a tool call that is made in the current context. */
  get calling(): Run {
    const at = this.#tool;
    return at === undefined ? this.#root() : (at.child ?? at.parent);
  }

  /** The run of a model request that is made in the current context. Within a tool it is a child run named after the tool. */
  get asking(): Run {
    const at = this.#tool;
    if (at === undefined) return this.#root();
    at.child ??= at.parent.child({ agentName: at.name });
    return at.child;
  }

  /**
   * Runs a tool of `parent`, and ends the child run that the tool started.
   *
   * @throws the error of the tool
   */
  async within<Result>(parent: Run, name: string, work: () => Result | PromiseLike<Result>): Promise<Result> {
    const tool = this.tool(parent, name);
    try {
      const result = await tool.run(work);
      tool.leave();
      return result;
    } catch (error) {
      tool.leave({ error });
      throw error;
    }
  }

  /** Starts a tool of `parent` that the host runs in several steps. The host ends it with `leave`. */
  tool(parent: Run, name: string): ScopedTool {
    const at: RunningTool = { parent, name, child: undefined, isDone: false };
    return {
      run: (work) => this.#storage.run(at, work),
      leave: (failure) => leave(at, failure === undefined ? undefined : endingAfterTrouble(troubleOf(failure.error))),
    };
  }

  /**
   * Puts the rest of the current async task into a tool of `parent`. For an SDK whose tools cannot be wrapped, but which
   * reports the start of a tool in the task that runs it.
   *
   * @returns a function that ends the tool, and returns true if `failed` was called
   */
  enter(parent: Run, name: string): () => boolean {
    const at: RunningTool = { parent, name, child: undefined, isDone: false };
    this.#storage.enterWith(at);
    return () => {
      leave(at);
      return at.hasFailed === true;
    };
  }

  /** Marks the running tool as failed. */
  failed(): void {
    const at = this.#tool;
    if (at !== undefined) at.hasFailed = true;
  }

  get #tool(): RunningTool | undefined {
    const at = this.#storage.getStore();
    return at?.isDone === true ? undefined : at;
  }
}

function leave(at: RunningTool, ending?: RunEnding): void {
  at.isDone = true;
  at.child?.emit({ type: 'agent_end', ...ending });
}
