import { identityOf, type RefusalOptions } from '../host/adapter-options.ts';
import { isJsonObject } from '../../core/base/json.ts';
import type { Conversation } from '../host/conversation.ts';
import { Conversations } from '../host/conversations.ts';
import { STREAM_LEFT } from '../host/run-outcome.ts';
import { RunScope } from '../host/run-scope.ts';
import type { Run } from '../../core/run/run.ts';

export interface Followed {
  readonly conversation: Conversation;
  seen: number;
  instructions: string | undefined;
}

/** An aborted stream ends without an error. Its result says so. */
function isCancelled(result: unknown): boolean {
  return isJsonObject(result) && result['cancelled'] === true;
}

/**
 * The first agent uses the given run; each agent that it hands over to, and requests from within a tool, get a child
 * run.
 */
export class AgentRuns {
  readonly scope: RunScope = new RunScope(() => this.#active);
  readonly #root: Run;
  readonly #conversations: Conversations<Omit<Followed, 'conversation'>>;
  readonly #all = new Set<Followed>();
  readonly #byAgent = new Map<string, Run>();
  #active: Run;
  /** The result of the runner's latest run; of a stream, before the stream is read. */
  latest: unknown;
  /** Active calls of unwrapped tools. The value is the function that ends the scope of the call. */
  readonly #running = new Map<string, () => boolean>();

  constructor(root: Run, options: RefusalOptions) {
    this.#root = root;
    this.#active = root;
    this.#conversations = new Conversations(options, () => ({ seen: 0, instructions: undefined }));
    root.beforeEnd(() => {
      if (isCancelled(this.latest)) this.of(this.#active).conversation.troubled(STREAM_LEFT);
      const { ending } = this.of(this.#active).conversation;
      for (const run of this.#byAgent.values()) if (run !== root) run.emit({ type: 'agent_end', ...ending });
      return ending;
    });
  }

  of(run: Run): Followed {
    const followed = this.#conversations.of(run);
    this.#all.add(followed);
    return followed;
  }

  /** True if a request of any agent was seen. */
  get hasAsked(): boolean {
    return [...this.#all].some(({ conversation }) => conversation.hasAsked);
  }

  asking(): Followed {
    return this.of(this.scope.asking);
  }

  calling(): Followed {
    return this.of(this.scope.calling);
  }

  /** Called when an agent starts or takes over. */
  begins(agentName: string): void {
    const previousActive = this.#active;
    const knownRun = this.#byAgent.get(agentName);
    if (knownRun !== undefined) {
      this.#active = knownRun;
    } else if (this.#byAgent.size === 0) {
      this.#active = this.#root;
      this.#root.emit({ type: 'run_identified', identity: identityOf(this.#root, { agentName }) });
    } else {
      this.#active = this.#root.child({ agentName, handoff: true });
    }
    this.#byAgent.set(agentName, this.#active);
    if (previousActive !== this.#active)
      this.of(this.#active).conversation.inherit(this.of(previousActive).conversation);
  }

  handsOver(toAgent: string): void {
    const { conversation } = this.of(this.#active);
    for (const call of conversation.notStarted()) {
      conversation.started(call);
      conversation.later(conversation.ended(call, { result: { assistant: toAgent }, isError: false }));
    }
  }

  /** Called when an unwrapped tool starts in its own async task. Model requests from that task belong to a child run. */
  toolBegins(callId: string, name: string): void {
    this.#running.set(callId, this.scope.enter(this.scope.calling, name));
  }

  /** @returns true if the tool was reported as failed */
  toolDone(callId: string): boolean {
    const leave = this.#running.get(callId);
    this.#running.delete(callId);
    return leave?.() ?? false;
  }
}
