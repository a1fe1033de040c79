import type { AgentShape } from './sdk-shapes.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import { identityOf, type RefusalOptions } from '../host/adapter-options.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { isJsonObject } from '../../core/base/json.ts';
import type { Conversation } from '../host/conversation.ts';
import { Conversations } from '../host/conversations.ts';
import { STREAM_LEFT, troubleOf } from '../host/run-outcome.ts';
import { RunScope } from '../host/run-scope.ts';
import type { RunEnding } from '../../core/records/trajectory-record.ts';
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

/** A call of the runner, or calls one after the other. */
interface Loop {
  readonly owner: AgentRuns;
  readonly root: Run;
  readonly byAgent: Map<string, Run>;
  /** Active calls of unwrapped tools. The value is the function that ends the scope of the call. */
  readonly tools: Map<string, () => boolean>;
  readonly callers: LruMap<AgentShape>;
  active: Run;
  /** The result of the latest call of the runner; of a stream, before the stream is read. */
  latest: unknown;
  isRunning: boolean;
}

const REMEMBERED_CALLS = 1_024;

const LOOPS = new AsyncLocalStorage<Loop>();

/** The first agent has the given run; handoffs, requests from within a tool and concurrent runners get child runs. */
export class AgentRuns {
  readonly scope: RunScope = new RunScope(() => this.#loop.active);
  readonly #own: Loop;
  readonly #conversations: Conversations<Omit<Followed, 'conversation'>>;
  readonly #all = new Set<Followed>();
  readonly #beside = new Set<Loop>();
  /** The loops that wait for an approval, by the state from which they go on. */
  readonly #waiting = new WeakMap<object, Loop>();

  constructor(root: Run, options: RefusalOptions) {
    this.#own = this.#newLoop(root);
    this.#conversations = new Conversations(options, () => ({ seen: 0, instructions: undefined }));
    root.beforeEnd(() => {
      for (const loop of this.#beside) this.#close(loop);
      return this.#close(this.#own);
    });
  }

  /** False in a call of the runner that belongs to another steering. */
  get isOwner(): boolean {
    const loop = LOOPS.getStore();
    return loop === undefined || loop.owner === this;
  }

  /** Calls the runner. Errors are passed on. @param input  the user's input, or a saved state */
  async loop(input: unknown, work: () => unknown): Promise<unknown> {
    const loop = this.#loopOf(input);
    loop.isRunning = true;
    const call = async (): Promise<unknown> => {
      const failed = (error: unknown): void => this.of(loop.active).conversation.troubled(troubleOf(error));
      try {
        const result = await work();
        loop.latest = result;
        const { completed } = Object(result) as { readonly completed?: unknown };
        // A stream reports its error through this promise. The caller gets the SDK's own promise.
        if (completed instanceof Promise) void completed.catch(failed).finally(() => this.#done(loop));
        else this.#done(loop);
        return result;
      } catch (error) {
        failed(error);
        this.#done(loop);
        throw error;
      }
    };
    return await LOOPS.run(loop, () => this.scope.outside(call));
  }

  #loopOf(input: unknown): Loop {
    const own = this.#own;
    const waiting = typeof input === 'object' && input !== null ? this.#waiting.get(input) : undefined;
    if (waiting !== undefined) return waiting;
    if (!own.isRunning || isCancelled(own.latest) || own.root.isEnded) return own;
    const loop = this.#newLoop((LOOPS.getStore() === undefined ? own.root : this.scope.calling).child());
    this.#beside.add(loop);
    return loop;
  }

  #newLoop(root: Run): Loop {
    const state = { active: root, latest: undefined, isRunning: false };
    return { owner: this, root, byAgent: new Map(), tools: new Map(), callers: new LruMap(REMEMBERED_CALLS), ...state };
  }

  #done(loop: Loop): void {
    loop.isRunning = false;
    const { state, interruptions } = Object(loop.latest) as Readonly<Record<string, unknown>>;
    const waits = Array.isArray(interruptions) && interruptions.length > 0;
    if (waits && typeof state === 'object' && state !== null) this.#waiting.set(state, loop);
    else if (this.#beside.delete(loop)) this.#close(loop);
  }

  #close({ root, active, latest, byAgent }: Loop): RunEnding | undefined {
    const { conversation } = this.of(active);
    if (isCancelled(latest)) conversation.troubled(STREAM_LEFT);
    const { ending } = conversation;
    for (const run of new Set([...byAgent.values(), root]))
      if (run !== this.#own.root && !run.isEnded) run.emit({ type: 'agent_end', ...ending });
    return ending;
  }

  get callers(): LruMap<AgentShape> {
    return this.#loop.callers;
  }

  get #loop(): Loop {
    const loop = LOOPS.getStore();
    return loop?.owner === this ? loop : this.#own;
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

  calling(): Followed {
    return this.of(this.scope.calling);
  }

  /** Called when an agent starts or takes over. */
  begins(agentName: string): void {
    const loop = this.#loop;
    const { root, byAgent, active: previousActive } = loop;
    const knownRun = byAgent.get(agentName);
    if (knownRun !== undefined) {
      loop.active = knownRun;
    } else if (byAgent.size === 0) {
      root.emit({ type: 'run_identified', identity: identityOf(root, { agentName }) });
    } else {
      loop.active = root.child({ agentName, handoff: true });
    }
    byAgent.set(agentName, loop.active);
    if (previousActive !== loop.active) this.of(loop.active).conversation.inherit(this.of(previousActive).conversation);
  }

  handsOver(toAgent: string): void {
    const { conversation } = this.of(this.#loop.active);
    for (const call of conversation.notStarted()) {
      conversation.started(call);
      conversation.later(conversation.ended(call, { result: { assistant: toAgent }, isError: false }));
    }
  }

  /** Called when an unwrapped tool starts in its own async task. Model requests from that task belong to a child run. */
  toolBegins(callId: string, name: string): void {
    this.#loop.tools.set(callId, this.scope.enter(this.scope.calling, name));
  }

  /** @returns true if the tool was reported as failed */
  toolDone(callId: string): boolean {
    const leave = this.#loop.tools.get(callId);
    this.#loop.tools.delete(callId);
    return leave?.() ?? false;
  }
}
