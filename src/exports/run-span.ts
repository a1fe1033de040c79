import { hashText } from '../base/hash.ts';

/** A time of OpenTelemetry: seconds since 1970, and nanoseconds within the second. */
export type SpanTime = readonly [seconds: number, nanoseconds: number];

export type SpanValue = string | number | boolean | readonly string[];

export type SpanAttributes = Readonly<Record<string, SpanValue>>;

/** An event within a span. */
export interface RunSpanEvent {
  readonly name: string;
  readonly time: SpanTime;
  readonly attributes: SpanAttributes;
}

/** An ended span of a run for OpenTelemetry. Plain JSON. */
export interface RunSpan {
  /** 32 hexadecimal digits, shared by a run and all runs below it. */
  readonly traceId: string;
  /** 16 hexadecimal digits, from the run's id and the `seq` of its first record. */
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly runId: string;
  readonly name: string;
  readonly kind: 'internal' | 'client';
  readonly start: SpanTime;
  readonly end: SpanTime;
  readonly attributes: SpanAttributes;
  readonly events: readonly RunSpanEvent[];
  /** Events beyond the limit of 128 per span. */
  readonly droppedEvents: number;
  /** The reason for the failure; empty if unknown, absent for a success. */
  readonly error?: string;
}

/** Attributes and events without a name in the semantic conventions. */
export const COXSWAIN = {
  runId: 'coxswain.run.id',
  parentRunId: 'coxswain.run.parent_id',
  /** `ended`, `error`, `limit`, or the source's own word; absent if the run has no recorded end. */
  outcome: 'coxswain.run.outcome',
  reason: 'coxswain.run.reason',
  success: 'coxswain.run.success',
  task: 'coxswain.run.task',
  /** 1-based. */
  callNumber: 'coxswain.call.number',
  /** `open`: no result so far; `missing`: the source holds none. */
  callResult: 'coxswain.call.result',
  pattern: 'coxswain.pattern',
  advice: 'coxswain.advice',
  delivery: 'coxswain.advice.delivery',
  answer: 'coxswain.advice.answer',
  stop: 'coxswain.stop_requested',
  gap: 'coxswain.gap',
} as const;

/**
 * The time of a record. Records of the same millisecond get times a microsecond apart, to keep their order; receivers read times as
 * numbers, which hold no finer steps.
 *
 * @param place  0-based index of the record within its millisecond
 */
export function spanTime(atMs: number, place: number): SpanTime {
  const seconds = Math.floor(atMs / 1_000);
  const microseconds = Math.floor(atMs - seconds * 1_000) * 1_000 + place;
  return [seconds + Math.floor(microseconds / 1e6), (microseconds % 1e6) * 1_000];
}

/** The trace id of a root run and all runs below it. */
export function traceIdOf(rootRunId: string): string {
  return hashText(rootRunId) + hashText(rootRunId, 1);
}

/** The id of a span. @param what  its kind and the `seq` of its first record, such as `call 7` */
export function spanIdOf(runId: string, what: string): string {
  return hashText(`${what}\n${runId}`);
}
