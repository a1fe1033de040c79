import { AsyncLocalStorage } from 'node:async_hooks';
import { present } from '../base/present.ts';
import type { Run } from '../run/run.ts';
import { outcomeOf, type EndedWith } from './run-outcome.ts';

/** A tool at work. */
interface ToolAtWork {
  readonly parent: Run;
  readonly name: string;
  child: Run | undefined;
  isDone: boolean;
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
    const at: ToolAtWork = { parent, name, child: undefined, isDone: false };
    try {
      const result = await this.#storage.run(at, work);
      leave(at);
      return result;
    } catch (error) {
      leave(at, outcomeOf(error));
      throw error;
    }
  }

  /**
   * From here on what is awaited is within a tool of `parent`: for an SDK that tells when a tool begins, in the very task
   * in which it runs it, but does not let it be wrapped.
   *
   * @returns to be called when the tool is done
   */
  enter(parent: Run, name: string): () => void {
    const at: ToolAtWork = { parent, name, child: undefined, isDone: false };
    this.#storage.enterWith(at);
    return () => leave(at);
  }

  get #tool(): ToolAtWork | undefined {
    const at = this.#storage.getStore();
    return at?.isDone === true ? undefined : at;
  }
}

function leave(at: ToolAtWork, outcome?: EndedWith): void {
  at.isDone = true;
  at.child?.emit({ type: 'agent_end', ...present({ outcome }) });
}
