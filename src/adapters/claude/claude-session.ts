import type { RunEnding } from '../../core/records/trajectory-record.ts';
import { type Mutable, present } from '../../core/base/json.ts';
import { LimitSteps, type LimitUsed } from '../../core/facts/limit-used.ts';
import { LIMIT_USED } from '../../core/records/words.ts';
import { identityOf, type KnownIdentity } from '../host/adapter-options.ts';
import type { AdviseContext } from '../../core/run/evaluation-payload.ts';
import type { Run } from '../../core/run/run.ts';
import { ClaudeThread } from './claude-thread.ts';
import type { MessagePlace } from './read-message.ts';
import type { QueryResult } from './read-result.ts';
import { unrecognisedEvent } from './to-events.ts';

const MAX_UNRECOGNISED = 100;

export class ClaudeSession {
  readonly root: ClaudeThread;
  /** True if messages are observed. Answers are then read from messages, not from hooks. */
  isObserved = false;
  /** True if hooks report the start and end of calls. */
  isHooked = false;
  /** The last `result` message of the SDK. */
  result: QueryResult | undefined;
  readonly #agents = new Map<string, ClaudeThread>();
  readonly #agentOfCall = new Map<string, string>();
  readonly #limits = new LimitSteps();
  readonly #unrecognisedKinds = new Set<unknown>();
  /** True if the user named the conversation. The SDK's name then does not replace it. */
  readonly #isConversationNamed: boolean;
  #identity: KnownIdentity = {};
  /** Number of compactions that a hook has reported and a message has not reported yet. */
  #compactionsAhead = 0;

  constructor(run: Run) {
    this.root = new ClaudeThread(run);
    this.#isConversationNamed = run.conversationId !== undefined;
    run.beforeEnd(() => {
      this.#closeThreads();
      return this.result && endingOf(this.result);
    });
  }

  get known(): AdviseContext {
    const costUsd = this.result?.costUsd;
    return costUsd === undefined ? {} : { usage: { costUsd } };
  }

  identify(knownIdentity: KnownIdentity): void {
    const identity: Mutable<KnownIdentity> = { ...this.#identity, ...knownIdentity };
    if (this.#isConversationNamed) delete identity.conversationId;
    const { conversationId, modelId } = this.#identity;
    if (identity.conversationId === conversationId && identity.modelId === modelId) return;
    this.#identity = identity;
    this.root.emit({ type: 'run_identified', identity: identityOf(this.root.run, identity) });
  }

  /** Returns the thread of a hook call if the thread has started. */
  threadOf(agentId: string | undefined): ClaudeThread | undefined {
    return agentId === undefined ? this.root : this.#agents.get(agentId);
  }

  agentThread(agentId: string, agentType: string | undefined): ClaudeThread {
    const knownThread = this.#agents.get(agentId);
    if (knownThread !== undefined) return knownThread;
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

  threadAt(place: MessagePlace): ClaudeThread {
    const { agentId, agentType, parentCallId } = place;
    if (agentId !== undefined && parentCallId !== undefined) this.startedBy(parentCallId, agentId);
    const id = this.#agentAt(place);
    return id === undefined ? this.root : this.agentThread(id, agentType);
  }

  /** Returns the thread of a message if the thread has started. */
  knownThreadAt(place: MessagePlace): ClaudeThread | undefined {
    return this.threadOf(this.#agentAt(place));
  }

  /** Returns the run of a call. For an unknown call it is the main run. */
  runOfCall(callId: string | undefined): Run {
    const threads = [...this.#agents.values()];
    const caller = callId === undefined ? undefined : threads.find((thread) => thread.knowsCall(callId));
    return (caller ?? this.root).run;
  }

  startedBy(callId: string, agentId: string): void {
    this.#agentOfCall.set(callId, agentId);
  }

  /** Records a compaction of the conversation. A hook and a message report the same compaction, which is recorded once. */
  compacted(trigger: string, source: 'hook' | 'message'): void {
    if (source === 'message' && this.#compactionsAhead > 0) {
      this.#compactionsAhead -= 1;
      return;
    }
    if (source === 'hook') this.#compactionsAhead += 1;
    this.root.emit({ type: 'compaction', trigger });
  }

  limitUsed(limit: LimitUsed): void {
    const data = this.#limits.take(limit);
    if (data !== undefined) this.root.run.dispatch({ type: LIMIT_USED, data });
  }

  /** Records unknown content unchanged, once per name. */
  unrecognised(origin: 'hook' | 'message', name: unknown, value: unknown): void {
    if (this.#unrecognisedKinds.has(name) || this.#unrecognisedKinds.size >= MAX_UNRECOGNISED) return;
    this.#unrecognisedKinds.add(name);
    this.root.emit(unrecognisedEvent(origin, value));
  }

  end(result: QueryResult): void {
    this.result = result;
    this.root.emit({ type: 'agent_end', ...endingOf(result), labels: result.labels });
  }

  /** SDK versions that do not send the agent's id send the id of the call that started the agent. */
  #agentAt({ agentId, parentCallId }: MessagePlace): string | undefined {
    if (agentId !== undefined || parentCallId === undefined) return agentId;
    return this.#agentOfCall.get(parentCallId) ?? parentCallId;
  }

  #closeThreads(): void {
    this.root.close();
    for (const thread of this.#agents.values()) thread.end(this.result === undefined ? {} : endingOf(this.result));
  }
}

function endingOf({ outcome, labels }: QueryResult): RunEnding {
  const isTurns = labels['subtype'] === 'error_max_turns';
  return { outcome, ...present({ reason: isTurns ? 'turn_limit' : undefined }) };
}

const sessions = new WeakMap<Run, ClaudeSession>();

export function claudeSessionOf(run: Run): ClaudeSession {
  const knownSession = sessions.get(run);
  if (knownSession !== undefined) return knownSession;
  const session = new ClaudeSession(run);
  sessions.set(run, session);
  return session;
}
