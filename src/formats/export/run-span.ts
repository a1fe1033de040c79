import { hashText } from '../../core/base/hash.ts';
import { adviceOf } from '../../core/records/derived-payload.ts';
import { callNumber } from '../../core/base/number-text.ts';
import { present } from '../../core/base/json.ts';
import type { TrajectoryPattern } from '../../core/records/trajectory-pattern.ts';
import type { AdviceAcknowledged, FeedbackProduced, GuidanceProduced } from '../../core/records/trajectory-record.ts';
import { inWords } from '../../core/records/words.ts';
import { changeOf } from '../../core/facts/seen-pattern.ts';

export type SpanTime = readonly [seconds: number, nanoseconds: number];

export type SpanValue = string | number | boolean | readonly string[];

export type SpanAttributes = Readonly<Record<string, SpanValue>>;

export interface RunSpanEvent {
  readonly name: string;
  readonly time: SpanTime;
  readonly attributes: SpanAttributes;
}

export interface RunSpan {
  /** 32 hexadecimal digits. Equal for a run and all its descendants. */
  readonly traceId: string;
  /** 16 hexadecimal digits, derived from the run id and the `seq` of the first record. */
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly runId: string;
  readonly name: string;
  readonly kind: 'internal' | 'client';
  readonly start: SpanTime;
  readonly end: SpanTime;
  readonly attributes: SpanAttributes;
  readonly events: readonly RunSpanEvent[];
  readonly droppedEvents: number;
  /** Reason for a failure; empty if unknown, absent for a success. */
  readonly error?: string;
}

/** Names of attributes and events that the semantic conventions do not define. */
export const COXSWAIN = {
  runId: 'coxswain.run.id',
  parentRunId: 'coxswain.run.parent_id',
  /** `ended`, `error`, `limit`, or the outcome in the source's own terms. Absent if the run has no recorded end. */
  outcome: 'coxswain.run.outcome',
  reason: 'coxswain.run.reason',
  success: 'coxswain.run.success',
  task: 'coxswain.run.task',
  /** 1-based. */
  callNumber: 'coxswain.call.number',
  /** `open`: the call has no result yet. `missing`: the source contains no result. */
  callResult: 'coxswain.call.result',
  pattern: 'coxswain.pattern',
  advice: 'coxswain.advice',
  delivery: 'coxswain.advice.delivery',
  answer: 'coxswain.advice.answer',
  stop: 'coxswain.stop_requested',
  gap: 'coxswain.gap',
} as const;

/** Records of one millisecond (`place`, from 0) are a microsecond apart, the smallest step that receivers keep. */
export function spanTime(atMs: number, place: number): SpanTime {
  const seconds = Math.floor(atMs / 1_000);
  const microseconds = Math.floor(atMs - seconds * 1_000) * 1_000 + place;
  return [seconds + Math.floor(microseconds / 1e6), (microseconds % 1e6) * 1_000];
}

export function traceIdOf(rootRunId: string): string {
  return hashText(rootRunId) + hashText(rootRunId, 1);
}

/** Returns the id of a span. `what`: the kind of the span and the `seq` of its first record, such as `call 7`. */
export function spanIdOf(runId: string, what: string): string {
  return hashText(`${what}\n${runId}`);
}

export function patternAttributes(pattern: TrajectoryPattern): SpanAttributes {
  const { clearedAt, firstSeen, identity, kind, level, occurrences, stuck, tool } = pattern;
  return {
    'coxswain.pattern.kind': kind,
    'coxswain.pattern.identity': identity,
    'coxswain.pattern.text': inWords('pattern', kind),
    'coxswain.pattern.change': clearedAt === undefined ? changeOf(pattern) : 'cleared',
    'coxswain.pattern.level': level,
    'coxswain.pattern.stuck': stuck,
    'coxswain.pattern.occurrences': occurrences,
    'coxswain.pattern.first_call': callNumber(firstSeen),
    ...present({ 'coxswain.pattern.tool': tool }),
  };
}

/** Returns the attributes of a piece of advice. `hasContent`: false: omits the text, which may quote a result. */
export function adviceAttributes(payload: FeedbackProduced | GuidanceProduced, hasContent: boolean): SpanAttributes {
  const { pattern, severity, speaker, text } = adviceOf(payload);
  return {
    'coxswain.advice.id': payload.advice_id,
    'coxswain.advice.speaker': speaker,
    'coxswain.advice.provider': payload.provider_name,
    ...present({
      'coxswain.advice.text': hasContent ? text : undefined,
      'coxswain.advice.severity': severity,
      'coxswain.pattern.identity': pattern?.identity,
    }),
  };
}

export interface AdviceDelivery {
  readonly delivered: boolean;
  readonly channel?: string;
  readonly reason?: string;
}

export function deliveryAttributes(id: string, { channel, delivered, reason }: AdviceDelivery): SpanAttributes {
  return {
    'coxswain.advice.id': id,
    'coxswain.advice.delivered': delivered,
    ...present({ 'coxswain.advice.channel': channel, 'coxswain.advice.reason': reason }),
  };
}

export function acknowledgedAttributes({ advice_id: id, response }: AdviceAcknowledged): SpanAttributes {
  return { ...present({ 'coxswain.advice.id': id }), 'coxswain.advice.response': response };
}
