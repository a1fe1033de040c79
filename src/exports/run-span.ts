import { hashText } from '../base/hash.ts';

/** A time as OpenTelemetry has it: seconds since 1970, and nanoseconds within the second. */
export type SpanTime = readonly [seconds: number, nanoseconds: number];

/** The value of an attribute. */
export type SpanValue = string | number | boolean | readonly string[];

export type SpanAttributes = Readonly<Record<string, SpanValue>>;

/** Something that happened within a span. */
export interface RunSpanEvent {
  readonly name: string;
  readonly time: SpanTime;
  readonly attributes: SpanAttributes;
}

/** A part of a run that is over, as OpenTelemetry sees it. Plain JSON. */
export interface RunSpan {
  /** 32 hexadecimal digits; the same for a run and all runs below it. */
  readonly traceId: string;
  /** 16 hexadecimal digits, made of the run's id and the place of the record that it began with. */
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly runId: string;
  readonly name: string;
  readonly kind: 'internal' | 'client';
  readonly start: SpanTime;
  readonly end: SpanTime;
  readonly attributes: SpanAttributes;
  readonly events: readonly RunSpanEvent[];
  /** Events beyond the 128 that a span keeps. */
  readonly droppedEvents: number;
  /** Why it failed; empty where that is not known. Absent for what did not fail. */
  readonly error?: string;
}

/** Attributes and events that the semantic conventions have no name for. */
export const COXSWAIN = {
  runId: 'coxswain.run.id',
  parentRunId: 'coxswain.run.parent_id',
  /** `ended`, `error`, `limit`, or the source's own word; absent where the run has no end on record. */
  outcome: 'coxswain.run.outcome',
  reason: 'coxswain.run.reason',
  success: 'coxswain.run.success',
  task: 'coxswain.run.task',
  /** From 1. */
  callNumber: 'coxswain.call.number',
  /** `open`: there is none so far; `missing`: the source holds none. */
  callResult: 'coxswain.call.result',
  pattern: 'coxswain.pattern',
  advice: 'coxswain.advice',
  delivery: 'coxswain.advice.delivery',
  answer: 'coxswain.advice.answer',
  stop: 'coxswain.stop_requested',
  gap: 'coxswain.gap',
} as const;

/**
 * The time of a record. Records are timed to a millisecond; those of the same one follow each other by a microsecond, so that they keep
 * their order. Receivers read times as numbers, which hold no less.
 *
 * @param place  of the record among those of its millisecond, from 0
 */
export function spanTime(atMs: number, place: number): SpanTime {
  const seconds = Math.floor(atMs / 1_000);
  const microseconds = Math.floor(atMs - seconds * 1_000) * 1_000 + place;
  return [seconds + Math.floor(microseconds / 1e6), (microseconds % 1e6) * 1_000];
}

/** The id of the trace of a run without a parent, and of all runs below it. */
export function traceIdOf(rootRunId: string): string {
  return hashText(rootRunId) + hashText(rootRunId, 1);
}

/** The id of a span. @param what  what it is within its run, and the `seq` of the record that it began with, such as `call 7` */
export function spanIdOf(runId: string, what: string): string {
  return hashText(`${what}\n${runId}`);
}
