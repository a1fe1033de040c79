import type { Mutable } from '../../base/mutable.ts';
import { present } from '../../base/present.ts';
import { identityOf, type KnownIdentity } from '../../host/adapter-options.ts';
import type { AdviseContext } from '../../run/evaluation-payload.ts';
import type { Run } from '../../run/run.ts';
import { ClaudeThread } from './claude-thread.ts';
import type { MessagePlace } from './read-message.ts';
import type { QueryResult } from './read-result.ts';
import { unrecognisedEvent } from './to-events.ts';

/** Different things without a name that are kept in one run. */
const MAX_UNRECOGNISED = 100;

/** What the hooks and the messages of one run share: its threads, and what was told already. */
export class ClaudeSession {
  readonly root: ClaudeThread;
  /** Somebody looks at the messages: answers come from there, not from hooks. */
  isObserved = false;
  /** Hooks tell when calls begin and end. */
  isHooked = false;
  /** The last `result` message. */
  result: QueryResult | undefined;
  readonly #agents = new Map<string, ClaudeThread>();
  /** Subagents by the call that started them. */
  readonly #agentOfCall = new Map<string, string>();
  readonly #unrecognised = new Set<unknown>();
  /** The user has a name for the conversation, which the SDK's does not replace. */
  readonly #isConversationNamed: boolean;
  #identity: KnownIdentity = {};
  /** Compactions that a hook told of and no message yet. */
  #compactionsAhead = 0;

  constructor(run: Run) {
    this.root = new ClaudeThread(run);
    this.#isConversationNamed = run.conversationId !== undefined;
    run.beforeEnd(() => {
      this.#close();
      return this.result?.outcome;
    });
  }

  /** What is known beyond the records, for an evaluation. */
  get known(): AdviseContext {
    const costUsd = this.result?.costUsd;
    return costUsd === undefined ? {} : { usage: { costUsd } };
  }

  /** Tells the run who it is, where that is news. */
  identify(known: KnownIdentity): void {
    const identity: Mutable<KnownIdentity> = { ...this.#identity, ...known };
    if (this.#isConversationNamed) delete identity.conversationId;
    const { conversationId, modelId } = this.#identity;
    if (identity.conversationId === conversationId && identity.modelId === modelId) return;
    this.#identity = identity;
    this.root.emit({ type: 'run_identified', identity: identityOf(this.root.run, identity) });
  }

  /** The thread a hook was called on, as far as it has begun. */
  threadOf(agentId: string | undefined): ClaudeThread | undefined {
    return agentId === undefined ? this.root : this.#agents.get(agentId);
  }

  /** The thread of a subagent, which becomes a run below the main one. */
  agentThread(agentId: string, agentType: string | undefined): ClaudeThread {
    const known = this.#agents.get(agentId);
    if (known !== undefined) return known;
    const { modelId } = this.#identity;
    const { run } = this.root;
    const thread = new ClaudeThread(
      run.child({
        runId: `${run.id}/${agentId}`,
        ...present({ agentName: agentType, modelId }),
      }),
    );
    this.#agents.set(agentId, thread);
    return thread;
  }

  /** The thread a message belongs to; a subagent that is new begins. */
  threadAt(place: MessagePlace): ClaudeThread {
    const { agentId, agentType, parentCallId } = place;
    if (agentId !== undefined && parentCallId !== undefined) this.startedBy(parentCallId, agentId);
    const id = this.#agentAt(place);
    return id === undefined ? this.root : this.agentThread(id, agentType);
  }

  /** The same, where it has begun. */
  knownThreadAt(place: MessagePlace): ClaudeThread | undefined {
    return this.threadOf(this.#agentAt(place));
  }

  /** The run that a call belongs to; the main one where the call is not known. */
  runOfCall(callId: string | undefined): Run {
    const threads = [...this.#agents.values()];
    const caller = callId === undefined ? undefined : threads.find((thread) => thread.knowsCall(callId));
    return (caller ?? this.root).run;
  }

  /** A call started a subagent. */
  startedBy(callId: string, agentId: string): void {
    this.#agentOfCall.set(callId, agentId);
  }

  /** The conversation was compacted. Hook and message tell of the same. */
  compacted(trigger: string, source: 'hook' | 'message'): void {
    if (source === 'message' && this.#compactionsAhead > 0) {
      this.#compactionsAhead -= 1;
      return;
    }
    if (source === 'hook') this.#compactionsAhead += 1;
    this.root.emit({ type: 'compaction', trigger });
  }

  /** What has no name here is kept as it came, once for each name it goes by. */
  unrecognised(what: 'hook' | 'message', name: unknown, value: unknown): void {
    if (this.#unrecognised.has(name) || this.#unrecognised.size >= MAX_UNRECOGNISED) return;
    this.#unrecognised.add(name);
    this.root.emit(unrecognisedEvent(what, value));
  }

  /** The query is over, and with it the run. */
  end(result: QueryResult): void {
    const { outcome, labels } = result;
    this.result = result;
    this.root.emit({ type: 'agent_end', outcome, labels });
  }

  /** A version that does not tell which agent it is still tells by which call it was started. */
  #agentAt({ agentId, parentCallId }: MessagePlace): string | undefined {
    if (agentId !== undefined || parentCallId === undefined) return agentId;
    return this.#agentOfCall.get(parentCallId) ?? parentCallId;
  }

  /** No subagent outlives the run. */
  #close(): void {
    this.root.close();
    for (const thread of this.#agents.values()) thread.end(this.result?.outcome);
  }
}

const sessions = new WeakMap<Run, ClaudeSession>();

/** The one session of a run: hooks, messages and tools that were made for it share it. */
export function claudeSessionOf(run: Run): ClaudeSession {
  const known = sessions.get(run);
  if (known !== undefined) return known;
  const session = new ClaudeSession(run);
  sessions.set(run, session);
  return session;
}
