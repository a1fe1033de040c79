import { AsyncLocalStorage } from 'node:async_hooks';
import type { Run } from '../../core/run/run.ts';
import { endingAfterTrouble, troubleOf } from './run-outcome.ts';
import type { RunEnding } from '../../core/records/trajectory-record.ts';

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

/** The current run, if the SDK does not pass it. A model request from within a tool belongs to a child of that tool's run. */
export class RunScope {
  readonly #storage = new AsyncLocalStorage<RunningTool>();
  readonly #root: () => Run;

  /** @param root  the run outside of any tool */
  constructor(root: () => Run) {
    this.#root = root;
  }

  /** The run of a tool call that is made in the current context. */
  get calling(): Run {
    const tool = this.#tool;
    return tool === undefined ? this.#root() : (tool.child ?? tool.parent);
  }

  /** The run of a model request that is made in the current context. Within a tool it is a child run named after the tool. */
  get asking(): Run {
    const tool = this.#tool;
    if (tool === undefined) return this.#root();
    tool.child ??= tool.parent.child({ agentName: tool.name });
    return tool.child;
  }

  /** Runs work that belongs to no tool. */
  outside<Result>(work: () => Result): Result {
    return this.#storage.exit(work);
  }

  /** Runs a tool of `parent`, and ends the child run that it started. Throws the error of the tool. */
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
    const tool: RunningTool = { parent, name, child: undefined, isDone: false };
    return {
      run: (work) => this.#storage.run(tool, work),
      leave: (failure) =>
        leaveTool(tool, failure === undefined ? undefined : endingAfterTrouble(troubleOf(failure.error))),
    };
  }

  /**
   * Puts the rest of the current async task into a tool of `parent`. For an SDK whose tools cannot be wrapped, but which
   * reports the start of a tool in the task that runs it.
   *
   * @returns a function that ends the tool, and returns true if `failed` was called
   */
  enter(parent: Run, name: string): () => boolean {
    const tool: RunningTool = { parent, name, child: undefined, isDone: false };
    this.#storage.enterWith(tool);
    return () => {
      leaveTool(tool);
      return tool.hasFailed === true;
    };
  }

  /** Marks the running tool as failed. */
  failed(): void {
    const tool = this.#tool;
    if (tool !== undefined) tool.hasFailed = true;
  }

  get #tool(): RunningTool | undefined {
    const tool = this.#storage.getStore();
    return tool?.isDone === true ? undefined : tool;
  }
}

function leaveTool(tool: RunningTool, ending?: RunEnding): void {
  tool.isDone = true;
  tool.child?.emit({ type: 'agent_end', ...ending });
}
