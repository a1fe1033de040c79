import {
  type JsonMembers,
  membersOf,
  textOrUndefined,
  present,
  isJsonObject,
  listOf,
  numberOrUndefined,
} from '../../core/base/json.ts';
import { confidence, ObjectLines, plainText } from '../parts/object-lines.ts';
import type { ImportItem, ImportSource, LineImporter } from '../importer.ts';
import {
  sourceStem,
  sourceTimeMs,
  sourceBlocks,
  namedCall,
  namedUsage,
  usageOfProvider,
} from '../parts/source-content.ts';
import { UniqueNames } from '../parts/skip-counts.ts';
import { shellAnswer } from '../../core/detect/calls/shell-answer.ts';
import type { StoredUsage } from '../../core/records/agent-message.ts';
import type { RunEnding } from '../../core/records/trajectory-record.ts';
import { statedFailure } from '../claude-code/claude-ending.ts';
import type { CallShape } from '../parts/call-ids.ts';
import { SessionItems, type SessionIdentity } from '../parts/session-items.ts';

/** Maximum number of buffered usage records whose answer has not arrived. */
const MAX_USAGES = 64;

class CopilotRun {
  readonly #session: SessionItems;
  /** Start times of open calls. The value is undefined for a requested call that has not started. */
  readonly #calls = new Map<string, number | undefined>();
  /** Usage by API call. The usage is written before the answer. */
  readonly #usages = new Map<string, StoredUsage>();
  #answerId: string | undefined;
  #seenInput = false;
  #outputTokens = 0;
  /** Output tokens of the last answer if it has neither text nor calls on record. */
  #silentTokens = 0;
  #reasoningTokens = 0;
  #hasAnswer = false;
  /** True after an answer, until the next request. */
  #isAtRest = false;
  #turnEndMs: number | undefined;
  /** Some versions name the model only in events of the session. */
  #modelId: string | undefined;

  constructor(identity: Omit<SessionIdentity, 'format'>) {
    this.#session = new SessionItems({ ...identity, format: 'copilot' });
  }

  /** @returns false for an event type that coxswain does not read */
  *event(type: string, data: JsonMembers, atMs: number | undefined): Generator<ImportItem, boolean> {
    switch (type) {
      case 'user.message':
        this.outcome(undefined, atMs);
        // A call of a stopped turn has no end.
        this.#calls.clear();
        this.#isAtRest = false;
        yield* this.#userItems(data, atMs);
        return true;
      case 'system.message':
      case 'system.notification':
        yield* this.#session.system(sourceBlocks(data.content), atMs);
        return true;
      case 'session.usage_record':
        this.#addUsage(membersOf(data.usage));
        return true;
      case 'assistant.usage':
        this.#addUsage(data);
        return true;
      case 'assistant.message':
        this.outcome(undefined, atMs);
        this.#hasAnswer = listOf(data.toolRequests).length === 0;
        yield* this.#answerItems(data, atMs);
        return true;
      case 'assistant.turn_start':
        this.#hasAnswer = false;
        this.#isAtRest = false;
        return false;
      case 'assistant.turn_end':
        this.#turnEndMs = atMs;
        this.#isAtRest = this.#hasAnswer;
        return false;
      case 'tool.execution_start':
        yield* this.#startItems(data, atMs);
        return true;
      case 'tool.execution_complete':
        yield* this.#completedItems(data, atMs);
        return true;
      case 'session.model_change':
        this.usesModel(data.newModel);
        return true;
      case 'session.error':
        yield* this.#session.failure(plainText(data.message), atMs);
        // Such as a list of models or a server of tools that cannot be had, after an answer.
        if (this.#isAtRest) return true;
        this.outcome(statedFailure(plainText(data.message), data.errorType, numberOrUndefined(data.statusCode)), atMs);
        return true;
      case 'session.compaction_complete':
        if (data.success !== false) yield* this.#session.compaction(textOrUndefined(data.trigger) ?? 'auto', atMs);
        return true;
      case 'session.truncation':
        if (data.messagesRemovedDuringTruncation !== 0) yield* this.#session.compaction('truncation', atMs);
        return true;
      default:
        return false;
    }
  }

  /** Handles the end of the program. An abort or an error before it says why the agent stopped. */
  shutDown(isError: boolean, atMs: number | undefined): void {
    if (isError) this.outcome('error', atMs);
    else if (this.#session.isOpen && this.#calls.size > 0)
      this.outcome({ outcome: 'aborted', reason: 'interrupted' }, atMs);
    else if (this.#session.isOpen) {
      // The text of some models' answers is not written.
      const isAnswer = this.#silentTokens > this.#reasoningTokens;
      // The program may have waited long for its user.
      this.outcome({ outcome: 'ended', ...(isAnswer ? { reason: 'answered' } : {}) }, this.#turnEndMs ?? atMs);
    } else this.#session.endsAt(atMs);
  }

  /** Sets how the run ends if no further event follows. */
  outcome(outcome: string | RunEnding | undefined, atMs: number | undefined): void {
    this.#session.outcome(outcome, atMs);
  }

  /** The model of the answers that name none. */
  usesModel(modelId: unknown): void {
    this.#modelId = textOrUndefined(modelId) ?? this.#modelId;
  }

  /** In older versions, answers have only output tokens, or none: the last answer then gets the remaining tokens. */
  totals(metrics: JsonMembers): void {
    const usages = Object.entries(metrics).map(([modelId, metric]) =>
      copilotUsage(membersOf(membersOf(metric).usage), modelId),
    );
    const sumOf = (name: keyof StoredUsage): number => usages.reduce((sum, usage) => sum + (usage?.[name] ?? 0), 0);
    this.#reasoningTokens = sumOf('reasoning_tokens');
    if (this.#seenInput) return;
    this.#session.usage({
      input_tokens: sumOf('input_tokens'),
      ...(this.#outputTokens === 0 ? { output_tokens: sumOf('output_tokens') } : {}),
      cache_read_tokens: sumOf('cache_read_tokens'),
      cache_write_tokens: sumOf('cache_write_tokens'),
    });
  }

  *finish(): Generator<ImportItem> {
    yield* this.#session.finish();
  }

  *#userItems(data: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const blocks = sourceBlocks(data.content);
    const source = textOrUndefined(data.source) ?? 'user';
    // The parent agent writes a subagent's task. Other sources are hooks, skills and the host.
    const isTask = (source === 'user' || source.startsWith('agent-')) && data.isAutopilotContinuation !== true;
    if (isTask) yield* this.#session.user(blocks, atMs, plainText(data.content));
    else yield* this.#session.system(blocks, atMs);
  }

  #addUsage(usage: JsonMembers): void {
    const id = textOrUndefined(usage.apiCallId);
    const storedUsage = copilotUsage(usage, textOrUndefined(usage.model) ?? this.#modelId);
    if (id === undefined || storedUsage === undefined) return;
    this.#seenInput = true;
    if (this.#usages.size >= MAX_USAGES) this.#usages.clear();
    this.#usages.set(id, storedUsage);
  }

  *#answerItems(data: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const apiCallId = textOrUndefined(data.apiCallId);
    this.#answerId = apiCallId ?? textOrUndefined(data.messageId);
    const outputTokens = numberOrUndefined(data.outputTokens);
    this.#outputTokens += outputTokens ?? 0;
    const knownUsage = apiCallId === undefined ? undefined : this.#usages.get(apiCallId);
    if (apiCallId !== undefined) this.#usages.delete(apiCallId);
    const reasoning = textOrUndefined(data.reasoningText);
    const calls = listOf(data.toolRequests).map((request) => callOf(membersOf(request)));
    this.#turnEndMs = undefined;
    this.#silentTokens = calls.length > 0 || plainText(data.content).trim() !== '' ? 0 : (outputTokens ?? 0);
    for (const { sourceId } of calls) if (sourceId !== undefined) this.#calls.set(sourceId, undefined);
    const piece = {
      messageId: this.#answerId,
      parts: [
        ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
        ...sourceBlocks(data.content),
        ...calls.map((call) => ({ type: 'call' as const, call })),
      ],
      modelId: textOrUndefined(data.model) ?? this.#modelId,
      usage: knownUsage ?? (outputTokens === undefined ? undefined : { output_tokens: outputTokens }),
    };
    yield* this.#session.answer(piece, atMs);
  }

  /** A call that no answer requested, for example one typed by the user, belongs to the previous answer. */
  *#startItems(data: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const call = callOf(data);
    const { sourceId } = call;
    if (sourceId === undefined) return;
    if (!this.#calls.has(sourceId)) {
      yield* this.#session.answer({ messageId: this.#answerId, parts: [{ type: 'call', call }] }, atMs);
    }
    this.#calls.set(sourceId, atMs);
  }

  *#completedItems(data: JsonMembers, atMs: number | undefined): Generator<ImportItem> {
    const sourceId = textOrUndefined(data.toolCallId);
    const startedAtMs = sourceId === undefined ? undefined : this.#calls.get(sourceId);
    if (sourceId !== undefined) this.#calls.delete(sourceId);
    const content = membersOf(data.result).content;
    const result = plainText(
      data.success === false ? (membersOf(data.error).message ?? content ?? '') : (content ?? ''),
    );
    const exitCode = numberOrUndefined(membersOf(data.shellExecution).exitCode) ?? shellAnswer(result)?.exitCode ?? 0;
    const isError = data.success === false || exitCode !== 0;
    const durationMs = startedAtMs === undefined || atMs === undefined ? undefined : atMs - startedAtMs;
    const outcome = REFUSED.has(membersOf(data.error).code) ? 'refused' : undefined;
    yield* this.#session.result({ sourceId, result, isError, exitCode, outcome, durationMs, atMs });
  }
}

const REFUSED: ReadonlySet<unknown> = new Set(['rejected', 'denied']);

function copilotUsage(usage: JsonMembers, modelId: string | undefined): StoredUsage | undefined {
  const counts = {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens ?? 0,
    reasoning_tokens: usage.reasoningTokens,
  };
  return usageOfProvider(namedUsage(counts), modelId, 'within');
}

function callOf(request: JsonMembers): CallShape {
  return namedCall(request.toolCallId, textOrUndefined(request.name) ?? request.toolName, request.arguments);
}

const EVENT_TYPE = /^(?:session|assistant|user|system|tool|hook|subagent|permission|model)\.\w+$|^abort$/;

/** `~/.copilot/session-state/<id>/events.jsonl`, and `<id>.jsonl` of versions of 2025: the session is a run, and each subagent is a child run. */
export const copilotImporter: LineImporter = {
  shape: 'lines',
  format: 'copilot',
  recognise(firstLines) {
    const isEvent = ({ type, data }: JsonMembers): boolean =>
      typeof type === 'string' && EVENT_TYPE.test(type) && isJsonObject(data);
    return confidence(firstLines, isEvent, { all: 0.98, some: 0.8 });
  },
  open: (source) => new CopilotImport(source),
};

class CopilotImport extends ObjectLines {
  readonly #agents = new Map<string, CopilotRun>();
  /** Creates a run id for each start of an agent, because an agent may be started again after its end. */
  readonly #runIds = new UniqueNames();
  #sessionId: string;
  #main: CopilotRun | undefined;

  constructor(source: ImportSource) {
    super();
    this.#sessionId = sourceStem(source);
  }

  *entry(value: JsonMembers, lineNumber: number): Generator<ImportItem> {
    if (!isJsonObject(value) || typeof value.type !== 'string' || !isJsonObject(value.data)) {
      this.lost.add('lines that are not events', lineNumber);
      return;
    }
    const { type, data } = value;
    const atMs = sourceTimeMs(value.timestamp);
    const agentId = textOrUndefined(value.agentId) ?? textOrUndefined(data.parentToolCallId);
    switch (type) {
      case 'session.start':
        this.#sessionId = textOrUndefined(data.sessionId) ?? this.#sessionId;
        this.#mainRun().usesModel(data.selectedModel);
        break;
      case 'session.resume':
        this.#mainRun().outcome(undefined, atMs);
        break;
      case 'session.shutdown': {
        const snapshot = membersOf(data.accountingSnapshot);
        this.#mainRun().totals(membersOf(snapshot.modelMetrics ?? data.modelMetrics));
        this.#mainRun().shutDown(data.shutdownType === 'error', atMs);
        break;
      }
      case 'abort':
        this.#mainRun().outcome({ outcome: 'aborted', reason: 'interrupted' }, atMs);
        break;
      case 'subagent.started':
        this.#agentRun(agentId ?? textOrUndefined(data.toolCallId), data);
        break;
      case 'subagent.completed':
      case 'subagent.failed':
        yield* this.#endItems(
          agentId ?? textOrUndefined(data.toolCallId),
          type === 'subagent.failed' ? 'error' : 'ended',
          atMs,
        );
        break;
      default: {
        const run = agentId === undefined ? this.#mainRun() : this.#agentRun(agentId, {});
        if (!(yield* run.event(type, data, atMs))) this.skipped.add(type);
      }
    }
  }

  *finish(): Generator<ImportItem> {
    yield* this.#mainRun().finish();
    for (const run of this.#agents.values()) yield* run.finish();
  }

  #mainRun(): CopilotRun {
    this.#main ??= new CopilotRun({ id: this.#sessionId, conversationId: this.#sessionId });
    return this.#main;
  }

  #agentRun(agentId: string | undefined, data: JsonMembers): CopilotRun {
    const key = agentId ?? 'unnamed';
    const knownRun = this.#agents.get(key);
    if (knownRun !== undefined) return knownRun;
    const agentName = textOrUndefined(data.agentName);
    const parent = textOrUndefined(data.parentId);
    const run = new CopilotRun({
      id: this.#runIds.take(`${this.#sessionId}/agent-${key}`),
      parentId:
        parent !== undefined && this.#agents.has(parent) ? `${this.#sessionId}/agent-${parent}` : this.#sessionId,
      conversationId: this.#sessionId,
      ...present({ agentName }),
    });
    this.#agents.set(key, run);
    return run;
  }

  *#endItems(agentId: string | undefined, outcome: string, atMs: number | undefined): Generator<ImportItem> {
    const run = this.#agents.get(agentId ?? 'unnamed');
    if (run === undefined) return;
    run.outcome(outcome, atMs);
    yield* run.finish();
    this.#agents.delete(agentId ?? 'unnamed');
  }
}
