import type { Mutable } from '../../base/mutable.ts';
import { present } from '../../base/present.ts';
import { identityOf, type KnownIdentity } from '../../host/adapter-options.ts';
import type { AdviseContext } from '../../run/evaluation-payload.ts';
import type { Run } from '../../run/run.ts';
import { ClaudeThread } from './claude-thread.ts';
import type { MessagePlace } from './read-message.ts';
import type { QueryResult } from './read-result.ts';
import { unrecognisedEvent } from './to-events.ts';

/** Most distinct unknown items recorded per run. */
const MAX_UNRECOGNISED = 100;

/** State shared by the hooks and messages of one run: its threads, and what was already reported. */
export class ClaudeSession {
  readonly root: ClaudeThread;
  /** Messages are observed: answers come from there, not from hooks. */
  isObserved = false;
  /** Hooks report the start and end of calls. */
  isHooked = false;
  /** The last `result` message. */
  result: QueryResult | undefined;
  readonly #agents = new Map<string, ClaudeThread>();
  /** Subagents by the call that started them. */
  readonly #agentOfCall = new Map<string, string>();
  readonly #unrecognised = new Set<unknown>();
  /** The user named the conversation; the SDK's name does not replace it. */
  readonly #isConversationNamed: boolean;
  #identity: KnownIdentity = {};
  /** Compactions reported by a hook but not yet by a message. */
  #compactionsAhead = 0;

  constructor(run: Run) {
    this.root = new ClaudeThread(run);
    this.#isConversationNamed = run.conversationId !== undefined;
    run.beforeEnd(() => {
      this.#close();
      return this.result?.outcome;
    });
  }

  /** Facts beyond the records, for an evaluation. */
  get known(): AdviseContext {
    const costUsd = this.result?.costUsd;
    return costUsd === undefined ? {} : { usage: { costUsd } };
  }

  /** Identifies the run, if that is news. */
  identify(known: KnownIdentity): void {
    const identity: Mutable<KnownIdentity> = { ...this.#identity, ...known };
    if (this.#isConversationNamed) delete identity.conversationId;
    const { conversationId, modelId } = this.#identity;
    if (identity.conversationId === conversationId && identity.modelId === modelId) return;
    this.#identity = identity;
    this.root.emit({ type: 'run_identified', identity: identityOf(this.root.run, identity) });
  }

  /** The thread of a hook call, if it has begun. */
  threadOf(agentId: string | undefined): ClaudeThread | undefined {
    return agentId === undefined ? this.root : this.#agents.get(agentId);
  }

  /** The thread of a subagent, which becomes a child of the main run. */
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

  /** The thread of a message; a new subagent begins. */
  threadAt(place: MessagePlace): ClaudeThread {
    const { agentId, agentType, parentCallId } = place;
    if (agentId !== undefined && parentCallId !== undefined) this.startedBy(parentCallId, agentId);
    const id = this.#agentAt(place);
    return id === undefined ? this.root : this.agentThread(id, agentType);
  }

  /** The thread of a message, if it has begun. */
  knownThreadAt(place: MessagePlace): ClaudeThread | undefined {
    return this.threadOf(this.#agentAt(place));
  }

  /** The run of a call; the main run for an unknown call. */
  runOfCall(callId: string | undefined): Run {
    const threads = [...this.#agents.values()];
    const caller = callId === undefined ? undefined : threads.find((thread) => thread.knowsCall(callId));
    return (caller ?? this.root).run;
  }

  /** A call started a subagent. */
  startedBy(callId: string, agentId: string): void {
    this.#agentOfCall.set(callId, agentId);
  }

  /** The conversation was compacted. Hook and message report the same event. */
  compacted(trigger: string, source: 'hook' | 'message'): void {
    if (source === 'message' && this.#compactionsAhead > 0) {
      this.#compactionsAhead -= 1;
      return;
    }
    if (source === 'hook') this.#compactionsAhead += 1;
    this.root.emit({ type: 'compaction', trigger });
  }

  /** Records unknown content unchanged, once per name. */
  unrecognised(what: 'hook' | 'message', name: unknown, value: unknown): void {
    if (this.#unrecognised.has(name) || this.#unrecognised.size >= MAX_UNRECOGNISED) return;
    this.#unrecognised.add(name);
    this.root.emit(unrecognisedEvent(what, value));
  }

  /** The query has ended, and with it the run. */
  end(result: QueryResult): void {
    const { outcome, labels } = result;
    this.result = result;
    this.root.emit({ type: 'agent_end', outcome, labels });
  }

  /** Versions that do not name the agent still name the call that started it. */
  #agentAt({ agentId, parentCallId }: MessagePlace): string | undefined {
    if (agentId !== undefined || parentCallId === undefined) return agentId;
    return this.#agentOfCall.get(parentCallId) ?? parentCallId;
  }

  /** Subagents end with the run. */
  #close(): void {
    this.root.close();
    for (const thread of this.#agents.values()) thread.end(this.result?.outcome);
  }
}

const sessions = new WeakMap<Run, ClaudeSession>();

/** The session of a run, shared by its hooks, messages and tools. */
export function claudeSessionOf(run: Run): ClaudeSession {
  const known = sessions.get(run);
  if (known !== undefined) return known;
  const session = new ClaudeSession(run);
  sessions.set(run, session);
  return session;
}
