import { present } from '../../core/base/present.ts';
import { GENAI, GENAI_OPERATIONS } from '../otlp/genai-names.ts';
import type { RunSpan, RunSpanEvent, SpanAttributes, SpanTime, SpanValue } from './run-span.ts';

/** The default limit of OpenTelemetry SDKs. */
const MAX_EVENTS = 128;

export interface SpanStart {
  readonly traceId: string;
  readonly id: string;
  readonly runId: string;
  readonly parentId?: string | undefined;
  readonly operation: string;
  readonly start: SpanTime;
  readonly attributes: SpanAttributes;
}

/** An open span. The span name consists of the operation and its object: the tool, the model or the agent. */
export class SpanDraft {
  readonly attributes: Record<string, SpanValue>;
  end: SpanTime;
  /** Reason for the failure; undefined for a success. */
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

  /** Ends the span and returns it. */
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
