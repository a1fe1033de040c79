import { AsyncLocalStorage } from 'node:async_hooks';
import type { Run } from '../run/run.ts';
import { endingAfterTrouble, troubleOf } from './run-outcome.ts';
import type { RunEnding } from '../records/trajectory-record.ts';

/** A tool at work. */
interface ToolAtWork {
  readonly parent: Run;
  readonly name: string;
  child: Run | undefined;
  isDone: boolean;
  hasFailed?: true;
}

/** A tool whose work is run piece by piece. */
export interface ScopedTool {
  run<Result>(work: () => Result): Result;
  /** The tool is done; a child that it started ends with it. */
  leave(failure?: { readonly error: unknown }): void;
}

/**
 * Which run something belongs to, where an SDK does not say. What asks a model from within a tool is an agent below:
 * its run is a child of the one that called the tool.
 */
export class RunScope {
  readonly #storage = new AsyncLocalStorage<ToolAtWork>();
  readonly #root: () => Run;

  /** @param root the run of what happens outside of any tool */
  constructor(root: () => Run) {
    this.#root = root;
  }

  /** The run that calls tools here. */
  get calling(): Run {
    const at = this.#tool;
    return at === undefined ? this.#root() : (at.child ?? at.parent);
  }

  /** The run that asks a model here; within a tool a child is started, named after the tool. */
  get asking(): Run {
    const at = this.#tool;
    if (at === undefined) return this.#root();
    at.child ??= at.parent.child({ agentName: at.name });
    return at.child;
  }

  /** Runs a tool of `parent`. A child that it started ends with it. What the tool throws goes through. */
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

  /** A tool of `parent` whose work the host runs piece by piece. What a piece throws goes through; the tool ends by `leave`. */
  tool(parent: Run, name: string): ScopedTool {
    const at: ToolAtWork = { parent, name, child: undefined, isDone: false };
    return {
      run: (work) => this.#storage.run(at, work),
      leave: (failure) => leave(at, failure === undefined ? undefined : endingAfterTrouble(troubleOf(failure.error))),
    };
  }

  /**
   * From here on what is awaited is within a tool of `parent`: for an SDK that tells when a tool begins, in the very task
   * in which it runs it, but does not let it be wrapped.
   *
   * @returns to be called when the tool is done; says whether it was said to have failed
   */
  enter(parent: Run, name: string): () => boolean {
    const at: ToolAtWork = { parent, name, child: undefined, isDone: false };
    this.#storage.enterWith(at);
    return () => {
      leave(at);
      return at.hasFailed === true;
    };
  }

  /** Something within the tool at work says that the tool has failed. */
  failed(): void {
    const at = this.#tool;
    if (at !== undefined) at.hasFailed = true;
  }

  get #tool(): ToolAtWork | undefined {
    const at = this.#storage.getStore();
    return at?.isDone === true ? undefined : at;
  }
}

function leave(at: ToolAtWork, ending?: RunEnding): void {
  at.isDone = true;
  at.child?.emit({ type: 'agent_end', ...ending });
}
