import { callNumber } from '../../core/base/number-text.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { present, type Json, type JsonObject } from '../../core/base/json.ts';
import { GENAI, GENAI_OPERATIONS } from '../otlp/read-span.ts';
import type { PatternDetector } from '../../core/detect/patterns/pattern-detector.ts';
import type { StoredMessage, StoredContent, StoredContentBlock } from '../../core/records/agent-message.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import type {
  FeedbackProduced,
  GuidanceProduced,
  TrajectoryPayload,
  TrajectoryRecord,
} from '../../core/records/trajectory-record.ts';
import { errorLineOf, type RunCall } from '../../core/facts/run-call.ts';
import { RunView } from '../../core/facts/run-view.ts';
import { isFlagged } from '../../core/facts/seen-pattern.ts';
import {
  COXSWAIN,
  spanIdOf,
  spanTime,
  traceIdOf,
  type RunSpanEvent,
  type SpanValue,
  type RunSpan,
  type SpanAttributes,
  type SpanTime,
  adviceAttributes,
  acknowledgedAttributes,
  deliveryAttributes,
  patternAttributes,
  type AdviceDelivery,
} from './run-span.ts';
import { assertNever } from '../../core/base/error.ts';

/** The default limit of OpenTelemetry SDKs. */
const MAX_EVENTS = 128;

interface SpanStart {
  readonly traceId: string;
  readonly id: string;
  readonly runId: string;
  readonly parentId?: string | undefined;
  readonly operation: string;
  readonly start: SpanTime;
  readonly attributes: SpanAttributes;
}

/** An open span. The span name consists of the operation and its object: the tool, the model or the agent. */
class SpanDraft {
  readonly attributes: Record<string, SpanValue>;
  end: SpanTime;
  error: string | undefined;
  /** Number of pieces of advice without a delivery record. */
  unsettled = 0;
  readonly #start: SpanStart;
  readonly #events: RunSpanEvent[] = [];
  #droppedEvents = 0;

  constructor(start: SpanStart) {
    this.#start = start;
    this.end = start.start;
    this.attributes = { [GENAI.operation]: start.operation, ...start.attributes };
  }

  get id(): string {
    return this.#start.id;
  }

  note(event: RunSpanEvent): void {
    if (this.#events.length < MAX_EVENTS) this.#events.push(event);
    else this.#droppedEvents += 1;
  }

  over(): RunSpan {
    const { id, operation, parentId, runId, start, traceId } = this.#start;
    const { attributes, end, error } = this;
    const subject = attributes[GENAI.toolName] ?? attributes[SUBJECTS[operation] ?? ''];
    return {
      traceId,
      spanId: id,
      ...present({ parentSpanId: parentId }),
      runId,
      name: typeof subject === 'string' ? `${operation} ${subject}` : operation,
      kind: operation === GENAI_OPERATIONS.chat ? 'client' : 'internal',
      start,
      end: isBefore(end, start) ? start : end,
      attributes,
      events: this.#events,
      droppedEvents: this.#droppedEvents,
      ...present({ error }),
    };
  }
}

const SUBJECTS: Readonly<Record<string, string>> = {
  [GENAI_OPERATIONS.agent]: GENAI.agentName,
  [GENAI_OPERATIONS.chat]: GENAI.requestModel,
};

function isBefore([aSeconds, aNanos]: SpanTime, [bSeconds, bNanos]: SpanTime): boolean {
  return aSeconds === bSeconds ? aNanos < bNanos : aSeconds < bSeconds;
}

/** A message in the format of the OpenTelemetry semantic conventions for GenAI. */
interface GenaiMessage {
  readonly role: string;
  readonly parts: readonly JsonObject[];
}

type Answer = Extract<StoredMessage, { readonly role: 'assistant' }>;

function modelAttributes(modelId: string | undefined): SpanAttributes {
  const provider = PROVIDERS.find(([name]) => modelId !== undefined && name.test(modelId));
  return present({ [GENAI.requestModel]: modelId, [GENAI.provider]: provider?.[1] });
}

/** Returns the attributes of a model response. `hasContent`: false: omits the text of the response. */
function answerAttributes(answer: Answer, runModelId: string | undefined, hasContent: boolean): SpanAttributes {
  const { content, model_id: modelId = runModelId, stop_reason: reason, usage = {} } = answer;
  const model = modelAttributes(modelId);
  const { cache_read_tokens: readTokens, cache_write_tokens: write, input_tokens: input } = usage;
  // The conventions count cached tokens as input tokens; Anthropic counts them separately.
  const extraTokens = model[GENAI.provider] === 'anthropic' ? (readTokens ?? 0) + (write ?? 0) : 0;
  const message = { role: 'assistant', parts: partsOf(content), finish_reason: reason ?? 'stop' };
  return {
    ...model,
    ...present({
      [GENAI.responseModel]: answer.model_id,
      [GENAI.finishReasons]: reason === undefined ? undefined : [reason],
      [GENAI.inputTokens]: input === undefined ? undefined : input + extraTokens,
      [GENAI.outputTokens]: usage.output_tokens,
      [GENAI.cacheReadTokens]: readTokens,
      [GENAI.cacheWriteTokens]: write,
      [GENAI.reasoningTokens]: usage.reasoning_tokens,
      [GENAI.outputMessages]: hasContent ? JSON.stringify([message]) : undefined,
    }),
  };
}

const PROVIDERS: readonly (readonly [name: RegExp, provider: string])[] = [
  [/claude/i, 'anthropic'],
  [/gpt|codex|\bo\d/i, 'openai'],
  [/gemini/i, 'gcp.gemini'],
  [/mistral|devstral/i, 'mistral_ai'],
  [/deepseek/i, 'deepseek'],
  [/grok/i, 'x_ai'],
];

function partsOf(content: StoredContent): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', content }] : content.map(partOf);
}

function partOf(block: StoredContentBlock): JsonObject {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return { type: block.type, content: block.text };
    case 'tool_call':
      return { type: 'tool_call', id: block.id, name: block.name, arguments: block.args };
    case 'image': {
      const { bytes, digest, media_type: mime_type, url } = block;
      if (url !== undefined) return { type: 'uri', modality: 'image', mime_type, uri: url };
      return { type: 'image', mime_type, ...present<Readonly<Record<string, Json | undefined>>>({ bytes, digest }) };
    }
    case 'other':
      return { type: 'other', value: block.value };
    default:
      return assertNever(block);
  }
}

export interface RunSpansOptions {
  readonly runId: string;
  /** Id of the root run. Default: the parent, or the run itself if it has no parent. */
  readonly rootRunId?: string | undefined;
  /** Includes arguments, results, messages, and the texts of errors and advice, which may quote them. Default: true. */
  readonly content?: boolean | undefined;
  /** Detectors for runs without steering. Default: only recorded patterns are exported. */
  readonly detectors?: readonly PatternDetector[];
}

const MAX_OPEN_CALLS = 512;
/** Maximum number of ended calls whose spans stay open for later advice. */
const MAX_HELD_CALLS = 16;
const MAX_WAITING_MESSAGES = 1_000;
const MAX_ADVICE = 1_000;

/**
 * The run is a span `invoke_agent`, each response a child span `chat`, each call a child span `execute_tool`; patterns
 * and advice are events of the call before. A live run and its records give the same spans and ids. Memory: 512 open
 * and 16 ended calls, 128 events per span, 1,000 messages before a response.
 */
export class RunSpans {
  readonly #options: RunSpansOptions;
  readonly #view: RunView;
  readonly #open = new LruMap<SpanDraft>(MAX_OPEN_CALLS);
  readonly #held = new Map<number, SpanDraft>();
  /** The span of each piece of advice, by advice id. */
  readonly #saidAt = new LruMap<SpanDraft>(MAX_ADVICE);
  #agent: SpanDraft | undefined;
  #pendingMessages: GenaiMessage[] = [];
  #turn: SpanTime | undefined;
  #now: SpanTime = [0, 0];
  #lastMs = 0;
  #place = 0;
  #lastEnded = 0;

  constructor(options: RunSpansOptions) {
    this.#options = options;
    this.#view = new RunView(options.detectors === undefined ? {} : { detectors: options.detectors });
  }

  take(record: TrajectoryRecord): readonly RunSpan[] {
    const { payload, recorded_at_unix_ms: atMs, seq } = record;
    // Without times, `seq` gives the order.
    const nowMs = Math.floor(atMs > 0 ? atMs : Math.max(this.#lastMs, seq));
    this.#place = nowMs === this.#lastMs ? this.#place + 1 : 0;
    this.#lastMs = nowMs;
    this.#now = spanTime(nowMs, this.#place);
    const call = this.#view.fold(record);
    // Records after the end of a run, such as a late delivery, do not start a new span.
    if (this.#agent === undefined && !OPENS.has(payload.kind)) return [];
    this.#agent ??= this.#begunAgent(seq);
    const releasedSpans = RELEASES.has(payload.kind) ? this.#releaseSpans() : [];
    if (call !== undefined) this.#addCall(call, record);
    for (const pattern of this.#view.changedPatterns) if (isFlagged(pattern)) this.#addPattern(pattern);
    const answer = this.#addRecord(record);
    if (answer !== undefined) releasedSpans.push(answer);
    if (this.#held.size > MAX_HELD_CALLS) releasedSpans.push(...this.#releaseSpans(MAX_HELD_CALLS));
    return payload.kind === 'run_ended' ? [...releasedSpans, ...this.finish()] : releasedSpans;
  }

  finish(): readonly RunSpan[] {
    if (this.#agent === undefined) return [];
    const releasedSpans = this.#releaseSpans(0);
    for (const [, draft] of this.#open.entries()) {
      draft.attributes[COXSWAIN.callResult] = 'open';
      releasedSpans.push(draft.over());
    }
    this.#open.clear();
    releasedSpans.push(this.#endedAgent(this.#agent).over());
    this.#agent = undefined;
    return releasedSpans;
  }

  #begunAgent(seq: number): SpanDraft {
    const { parentRunId } = this.#view.counts;
    // A run that continues after its end gets another span in the same trace.
    const isFirst = seq === 0 || this.#view.resumptions === 0;
    const parentId = isFirst && parentRunId !== undefined ? spanIdOf(parentRunId, 'run') : undefined;
    return this.#startSpan(isFirst ? 'run' : `run from ${seq}`, GENAI_OPERATIONS.agent, {}, { parentId });
  }

  #endedAgent(draft: SpanDraft): SpanDraft {
    const { counts, outcome, started, verdict } = this.#view;
    const { agentName, conversationId, modelId, parentRunId, runId } = counts;
    const task = this.#options.content === false ? undefined : started?.task;
    const messages = this.#pendingMessages.length === 0 ? undefined : JSON.stringify(this.#pendingMessages);
    this.#pendingMessages = [];
    Object.assign(
      draft.attributes,
      modelAttributes(modelId),
      present({
        [GENAI.conversationId]: conversationId,
        [GENAI.agentName]: agentName,
        [GENAI.inputMessages]: messages,
        [COXSWAIN.runId]: runId,
        [COXSWAIN.parentRunId]: parentRunId,
        [COXSWAIN.outcome]: outcome?.outcome,
        [COXSWAIN.reason]: outcome?.reason,
        [COXSWAIN.success]: outcome?.success,
        [COXSWAIN.task]: task,
      }),
    );
    if (outcome !== undefined && /^(?:failed|cut_off|stopped)$/.test(verdict.verdict)) {
      draft.attributes[GENAI.errorType] = outcome.reason ?? outcome.outcome;
      draft.error = this.#options.content === false ? '' : verdict.evidence;
    }
    draft.end = this.#now;
    return draft;
  }

  #addCall(call: RunCall, record: TrajectoryRecord): void {
    const { args, endSeq, failed, id, number, outcome, resultMissing, seq, startLost, tool } = call;
    const key = String(number);
    const openSpan = this.#open.get(key);
    const draft =
      openSpan ??
      this.#startSpan(`call ${seq}`, GENAI_OPERATIONS.tool, {
        [GENAI.toolName]: tool,
        [GENAI.toolCallId]: id,
        [COXSWAIN.callNumber]: number,
        ...(startLost ? {} : this.#contentAttributes(GENAI.toolArguments, args)),
      });
    if (endSeq === undefined) this.#open.set(key, draft);
    else {
      this.#open.delete(key);
      this.#held.set(number, draft);
      this.#lastEnded = number;
      draft.end = this.#now;
      if (outcome !== undefined) draft.attributes[COXSWAIN.callResult] = outcome;
      if (resultMissing) draft.attributes[COXSWAIN.callResult] = 'missing';
      else if (record.payload.kind === 'tool_ended')
        Object.assign(draft.attributes, this.#contentAttributes(GENAI.toolResult, record.payload.result));
      if (failed) {
        draft.attributes[GENAI.errorType] = 'tool_error';
        draft.error = this.#options.content === false ? '' : (errorLineOf(call, record) ?? '');
      }
    }
  }

  #addRecord({ payload, seq }: TrajectoryRecord): RunSpan | undefined {
    switch (payload.kind) {
      case 'turn_started':
        this.#turn = this.#now;
        return undefined;
      case 'message_appended':
        return this.#addMessage(payload.message, seq);
      case 'feedback_produced':
      case 'guidance_produced':
        this.#addAdvice(payload);
        return undefined;
      case 'feedback_delivered':
        this.#addDelivery(payload.advice_id, payload);
        return undefined;
      case 'guidance_delivered':
        this.#addDelivery(payload.advice_id, payload.guidance);
        return undefined;
      case 'advice_acknowledged':
        this.#addEvent(COXSWAIN.answer, acknowledgedAttributes(payload));
        return undefined;
      case 'stop_requested':
        this.#addEvent(COXSWAIN.stop, {
          'coxswain.stop.policy': payload.policy,
          'coxswain.stop.reason': payload.reason,
        });
        return undefined;
      case 'gap':
        this.#addEvent(COXSWAIN.gap, { 'coxswain.gap.records': payload.through_seq - seq + 1 });
        return undefined;
      default:
        return undefined;
    }
  }

  #addMessage(message: StoredMessage, seq: number): RunSpan | undefined {
    const hasContent = this.#options.content !== false;
    if (message.role !== 'assistant') {
      // The span of the call contains the tool result.
      if (message.role !== 'tool_result' && hasContent && this.#pendingMessages.length < MAX_WAITING_MESSAGES)
        this.#pendingMessages.push({ role: message.role, parts: partsOf(message.content) });
      return undefined;
    }
    const input =
      this.#pendingMessages.length === 0 ? {} : { [GENAI.inputMessages]: JSON.stringify(this.#pendingMessages) };
    this.#pendingMessages = [];
    const output = answerAttributes(message, this.#view.counts.modelId, hasContent);
    const draft = this.#startSpan(
      `message ${seq}`,
      GENAI_OPERATIONS.chat,
      { ...input, ...output },
      present({ start: this.#turn }),
    );
    this.#turn = undefined;
    return draft.over();
  }

  #addPattern(pattern: TrajectoryPattern): void {
    const { clearedAt, evidence, firstSeen } = pattern;
    const call = this.#held.get(callNumber(clearedAt ?? evidence.at(-1) ?? firstSeen));
    this.#addEvent(COXSWAIN.pattern, patternAttributes(pattern), call ?? this.#latestSpan());
  }

  #addAdvice(payload: FeedbackProduced | GuidanceProduced): void {
    const span = this.#latestSpan();
    this.#addEvent(COXSWAIN.advice, adviceAttributes(payload, this.#options.content !== false), span);
    if (span === undefined) return;
    span.unsettled += 1;
    this.#saidAt.set(payload.advice_id, span);
  }

  #addDelivery(id: string, delivery: AdviceDelivery): void {
    const span = this.#saidAt.get(id);
    if (span !== undefined) span.unsettled -= 1;
    const isWaiting = span !== undefined && [...this.#held.values()].includes(span);
    this.#addEvent(COXSWAIN.delivery, deliveryAttributes(id, delivery), isWaiting ? span : this.#agent);
  }

  #latestSpan(): SpanDraft | undefined {
    return this.#held.get(this.#lastEnded) ?? this.#agent;
  }

  #addEvent(name: string, attributes: SpanAttributes, draft = this.#latestSpan()): void {
    draft?.note({ name, time: this.#now, attributes });
  }

  #contentAttributes(name: string, value: unknown): SpanAttributes {
    if (this.#options.content === false) return {};
    // A string is quoted, to distinguish it from JSON.
    return { [name]: typeof value === 'number' || typeof value === 'boolean' ? value : JSON.stringify(value) };
  }

  #startSpan(what: string, operation: string, attributes: SpanAttributes, more: Partial<SpanStart> = {}): SpanDraft {
    const { rootRunId, runId } = this.#options;
    return new SpanDraft({
      traceId: traceIdOf(rootRunId ?? this.#view.counts.parentRunId ?? runId),
      id: spanIdOf(runId, what),
      runId,
      parentId: this.#agent?.id,
      operation,
      start: this.#now,
      attributes,
      ...more,
    });
  }

  /** @param maxHeld  keeps at most this many calls. Default: keeps only calls with undelivered advice. */
  #releaseSpans(maxHeld?: number): RunSpan[] {
    const released: RunSpan[] = [];
    for (const [number, draft] of this.#held) {
      if (maxHeld === undefined ? draft.unsettled > 0 : this.#held.size <= maxHeld) continue;
      this.#held.delete(number);
      released.push(draft.over());
    }
    return released;
  }
}

const OPENS: ReadonlySet<TrajectoryPayload['kind']> = new Set([
  'run_started',
  'run_resumed',
  'turn_started',
  'message_appended',
  'tool_started',
  'tool_ended',
]);

/** Kinds of records that release the spans of ended calls. */
const RELEASES: ReadonlySet<TrajectoryPayload['kind']> = new Set([
  'turn_started',
  'message_appended',
  'tool_started',
  'run_ended',
]);
