import { identityOf } from '../../host/adapter-options.ts';
import { Conversation } from '../../host/conversation.ts';
import { RunScope } from '../../host/run-scope.ts';
import type { Run } from '../../run/run.ts';

/** The conversation of one run, and what its last request was like. */
export interface Followed {
  readonly conversation: Conversation;
  /** How many items its input had. */
  seen: number;
  instructions: string | undefined;
}

/**
 * Which run is whose: the agent that begins has the run itself, each agent it hands over to has a child of it, and so
 * has what asks a model from within a tool.
 */
export class AgentRuns {
  readonly scope: RunScope = new RunScope(() => this.#active);
  readonly #root: Run;
  readonly #options: { readonly maxChars?: number };
  readonly #all = new Map<Run, Followed>();
  readonly #byAgent = new Map<string, Run>();
  #active: Run;
  /** Calls of tools that are not wrapped and still run, each with what ends its scope. */
  readonly #running = new Map<string, () => boolean>();

  constructor(root: Run, options: { readonly maxChars?: number }) {
    this.#root = root;
    this.#active = root;
    this.#options = options;
    root.beforeEnd(() => {
      const { ending } = this.of(this.#active).conversation;
      for (const run of this.#byAgent.values()) if (run !== root) run.emit({ type: 'agent_end', ...ending });
      return ending;
    });
  }

  of(run: Run): Followed {
    const known = this.#all.get(run);
    if (known !== undefined) return known;
    const noWayBeforeAnswer = 'no request follows a final answer';
    const conversation = new Conversation(run, { ...this.#options, noWayBeforeAnswer });
    const made = { conversation, seen: 0, instructions: undefined };
    this.#all.set(run, made);
    return made;
  }

  /** A request of any of the agents was seen. */
  get hasAsked(): boolean {
    return [...this.#all.values()].some(({ conversation }) => conversation.hasAsked);
  }

  /** Where a request belongs that is made now. */
  asking(): Followed {
    return this.of(this.scope.asking);
  }

  /** The conversation of the agent that calls a tool now. */
  calling(): Followed {
    return this.of(this.scope.calling);
  }

  /** An agent takes over, or begins. */
  begins(agentName: string): void {
    const before = this.#active;
    const known = this.#byAgent.get(agentName);
    if (known !== undefined) {
      this.#active = known;
    } else if (this.#byAgent.size === 0) {
      this.#active = this.#root;
      this.#root.emit({ type: 'run_identified', identity: identityOf(this.#root, { agentName }) });
    } else {
      this.#active = this.#root.child({ agentName, handoff: true });
    }
    this.#byAgent.set(agentName, this.#active);
    if (before !== this.#active) this.of(this.#active).conversation.inherit(this.of(before).conversation);
  }

  /** The agent gave its task to another: the call by which it did so is done. */
  handsOver(toAgent: string): void {
    const { conversation } = this.of(this.#active);
    for (const call of conversation.notStarted()) {
      conversation.started(call);
      conversation.later(conversation.ended(call, { result: { assistant: toAgent }, isError: false }));
    }
  }

  /** A tool that is not wrapped begins, in the task in which it runs: what it asks a model belongs below. */
  toolBegins(callId: string, name: string): void {
    this.#running.set(callId, this.scope.enter(this.scope.calling, name));
  }

  /** It came back. @returns true if it was said to have failed */
  toolDone(callId: string): boolean {
    const leave = this.#running.get(callId);
    this.#running.delete(callId);
    return leave?.() ?? false;
  }
}
