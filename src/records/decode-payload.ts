import { isJsonObject } from '../base/json.ts';
import type { ValueBudget } from '../base/value-budget.ts';
import { message } from './decode-message.ts';
import {
  budget,
  classification,
  guidanceDelivered,
  injection,
  pattern,
  pendingCall,
  point,
  spokenAdvice,
  steering,
} from './decode-steering.ts';
import {
  amount,
  anyJson,
  anyNumber,
  brokenField,
  count,
  deadlineTime,
  decodeFields,
  flag,
  jsonObject,
  listOf,
  literal,
  mendOwn,
  nullable,
  objectOf,
  oneOf,
  optional,
  text,
} from './field-decode.ts';
import type { FieldDecode } from './field-decode.ts';
import type { RunIdentity } from './run-identity.ts';
import type { TrajectoryPayload, UnrecognisedPayload } from './trajectory-record.ts';

type KnownPayload = Exclude<TrajectoryPayload, UnrecognisedPayload>;

/** Names every field of every kind, so that a field added to a payload cannot be forgotten here. */
type PayloadFields = {
  readonly [Payload in KnownPayload as Payload['kind']]: {
    readonly [Field in Exclude<keyof Payload, 'kind'>]-?: FieldDecode;
  };
};

const identity: { readonly [Field in keyof RunIdentity]-?: FieldDecode } = {
  run_id: text,
  parent_run_id: optional(text),
  depth: count,
  conversation_id: optional(text),
  agent_name: optional(text),
  model_id: optional(text),
};

const derived = { cause_seq: count, ordinal: count } as const;

const payloads: PayloadFields = {
  run_started: {
    identity: objectOf(identity),
    task: optional(text),
    source: optional(text),
    format: optional(text),
    steering: optional(steering),
  },
  run_ended: {
    outcome: text,
    new_messages: listOf(message),
    success: optional(flag),
    reward: optional(anyNumber),
    labels: optional(jsonObject),
  },
  run_resumed: { trigger: text },
  deadline_set: { deadline_at_unix_ms: optional(deadlineTime(anyNumber)) },
  completion_checked: { met: flag, missing: listOf(text), attempt: count, gave_up: optional(literal(true)) },
  turn_started: {},
  turn_ended: { assistant: message, tool_results: listOf(message) },
  message_appended: { message },
  tool_started: { tool_call_id: text, tool_name: text, args: anyJson },
  tool_ended: {
    tool_call_id: text,
    tool_name: text,
    result: anyJson,
    is_error: flag,
    error_inferred: optional(literal(true)),
    result_missing: optional(literal(true)),
    duration_ms: optional(amount),
  },
  provider_request_prepared: {
    iteration: count,
    model_id: nullable(text),
    system_prompt_chars: count,
    message_count: count,
    tool_count: count,
    tools: listOf(text),
  },
  context_transform_applied: { iteration: count, plugin: text, before_count: count, after_count: count },
  tool_gate_applied: { iteration: count, plugin: text, allow: optional(listOf(text)) },
  tool_gate_conflict_resolved: {
    iteration: count,
    plugins: listOf(text),
    chosen_plugin: optional(text),
    allow: listOf(text),
    reason: text,
  },
  output_tokens_escalation: { attempt: count, prev_cap: count, new_cap: count },
  compaction: { trigger: text },
  gap: { through_seq: count, reason: text },
  evaluation: {
    point,
    pending_calls: optional(listOf(pendingCall)),
    last_response: optional(text),
    rendered_prompt: optional(text),
    files_created: optional(listOf(text)),
    usage: optional(budget),
  },
  prompt_used: { prompt_name: text },
  session_event: { event_type: text, data: anyJson },
  pattern_flagged: { ...derived, pattern },
  pattern_cleared: { ...derived, pattern },
  feedback_produced: { ...derived, advice_id: text, provider_name: text, feedback: spokenAdvice, text },
  guidance_produced: {
    ...derived,
    advice_id: text,
    provider_name: text,
    injection,
    decision_point: point,
    classification,
  },
  feedback_delivered: {
    advice_id: text,
    provider_name: text,
    delivered: flag,
    channel: optional(text),
    reason: optional(text),
  },
  guidance_delivered: { advice_id: text, guidance: guidanceDelivered },
  provider_failed: { ...derived, provider_name: text, phase: text, code: text, message: text },
  provider_overran: { provider_name: text, duration_ms: amount, limit_ms: amount },
  fault_noticed: { where: text, message: text },
  model_answered: {
    classifier_name: text,
    instruction_id: optional(text),
    confidence: optional(amount),
    fault_code: optional(text),
    fault_message: optional(text),
  },
  advice_acknowledged: {
    advice_id: optional(text),
    provider_name: optional(text),
    response: oneOf(['accepted', 'rejected', 'noted']),
    note: optional(text),
  },
};

/**
 * Decodes the `payload` of a record. A kind that has no name here becomes `unrecognised` with the whole
 * payload as its `original`; fields that have no name here are kept.
 *
 * @throws CoxswainError `invalid-record` naming the path of the field
 */
export function decodePayload(value: unknown): TrajectoryPayload {
  if (!isJsonObject(value)) throw brokenField('payload', 'an object', value);
  const kind = value['kind'];
  if (typeof kind !== 'string') throw brokenField('payload.kind', 'a text', kind);
  if (!isKnownKind(kind)) {
    // The value is an object of decoded JSON, so it is a JsonObject.
    return { kind: 'unrecognised', original: value as UnrecognisedPayload['original'] };
  }
  // `payloads` checked every field that the type of this kind names.
  return decodeFields(value, payloads[kind], 'payload') as unknown as KnownPayload;
}

/**
 * The payload as one that `decodePayload` takes and JSON can say, whatever a host has put into it: the same tables say what a
 * store refuses and what is mended before it gets there. What had to be mended is noted in `limits`.
 *
 * Cost: one look at each field, and one walk over each value, bounded by `limits`.
 *
 * @throws CoxswainError `invalid-record` where nothing can be made of a field that must be there
 */
export function mendPayload<Payload extends TrajectoryPayload>(payload: Payload, limits: ValueBudget): Payload;
export function mendPayload(payload: TrajectoryPayload, limits: ValueBudget): unknown {
  if (payload.kind === 'unrecognised')
    return { ...payload, original: jsonObject.mend(payload.original, limits, 'original') };
  // A payload is an object, and its kind, which no type of a host guards, is looked up as any text.
  return mendOwn({ ...payload }, payloads[payload.kind], limits);
}

/** Whether this version has a name for a kind. */
export function isKnownKind(kind: string): kind is KnownPayload['kind'] {
  return Object.hasOwn(payloads, kind);
}
