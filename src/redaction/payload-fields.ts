import { isJsonObject, type Json } from '../base/json.ts';
import type { Assessment } from '../records/assessment.ts';
import type { Feedback, SpokenAdvice } from '../records/feedback.ts';
import type { ClassificationResult, GuidanceDelivered, GuidanceInjection } from '../records/guidance.ts';
import type { RunIdentity } from '../records/run-identity.ts';
import type { StoredContentBlock, StoredMessage } from '../records/stored-message.ts';
import type {
  SteeringStart,
  StoredPendingCall,
  TrajectoryPayload,
  UnrecognisedPayload,
} from '../records/trajectory-record.ts';
import { repeatsMembers } from '../records/unrecognised-text.ts';

/** What is done with the values of each class of field. */
export interface FieldWriter {
  /** Text of the agent, its model, its tools or its user. */
  readonly text: (text: string) => string;
  /** The same, as any JSON. */
  readonly json: (value: Json) => Json;
  /** What a tool gave back. */
  readonly result: (value: Json) => Json;
  /** A short word of the host's: a tool's name, an outcome, a channel. */
  readonly name: (text: string) => string;
  /** A host's id that joins records. */
  readonly id: (text: string) => string;
  /** Of the configuration, or worked out from records that were redacted. */
  readonly configured: (text: string) => string;
}

/** What is done with the value of one field. */
type FieldClass = (value: Json, writer: FieldWriter) => Json;
type FieldClasses = Readonly<Record<string, FieldClass>>;

/** Names every field of a shape, so that one added to it does not compile until it is given a class. */
type Classes<Shape> = { readonly [Field in keyof Shape]-?: FieldClass };
type Members<Union, Field extends string, Value> = Extract<Union, { readonly [Key in Field]: Value }>;

/** A closed set of words, a number, a flag, or an id that coxswain itself gave: never changed. */
const closed: FieldClass = (value) => value;
const content: FieldClass = (value, writer) => (typeof value === 'string' ? writer.text(value) : writer.json(value));
const result: FieldClass = (value, writer) => writer.result(value);
const name: FieldClass = (value, writer) => eachText(value, writer.name);
const id: FieldClass = (value, writer) => eachText(value, writer.id);
const configured: FieldClass = (value, writer) => eachText(value, writer.configured);

function eachText(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  return Array.isArray(value) ? mapItems(value, (item) => eachText(item, change)) : value;
}

/** The list with each item changed; the list itself when none was. */
function mapItems(items: readonly Json[], change: (item: Json) => Json): Json {
  let changed: Json[] | undefined;
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at] ?? null;
    const made = change(item);
    if (made === item) continue;
    changed ??= [...items];
    changed[at] = made;
  }
  return changed ?? items;
}

/** An object with these fields; any other field it has is content. */
function shape(classes: FieldClasses): FieldClass {
  return (value, writer) => {
    if (!isJsonObject(value)) return content(value, writer);
    let changed: Record<string, Json> | undefined;
    // The value is JSON, so what it holds is.
    const source = value as Readonly<Record<string, Json>>;
    for (const key in source) {
      const member = source[key];
      if (member === undefined || !Object.hasOwn(source, key)) continue;
      const classOf = Object.hasOwn(classes, key) ? classes[key] : undefined;
      const made = (classOf ?? content)(member, writer);
      if (made === member) continue;
      changed ??= { ...source };
      changed[key] = made;
    }
    return changed ?? value;
  };
}

function listOf(item: FieldClass): FieldClass {
  return (value, writer) =>
    Array.isArray(value) ? mapItems(value, (one) => item(one, writer)) : content(value, writer);
}

const blocks: { readonly [Type in StoredContentBlock['type']]: Classes<Members<StoredContentBlock, 'type', Type>> } = {
  text: { type: closed, text: content },
  reasoning: { type: closed, text: content },
  tool_call: { type: closed, id, name, args: content },
  image: { type: closed, media_type: name, data_base64: content, url: content },
  other: { type: closed, value: content },
};

const block: FieldClass = (value, writer) => {
  const type = isJsonObject(value) ? value['type'] : undefined;
  if (typeof type !== 'string' || !Object.hasOwn(blocks, type)) return content(value, writer);
  // `type` is one of the types, as was just seen.
  return shape(blocks[type as StoredContentBlock['type']])(value, writer);
};

const messageContent: FieldClass = (value, writer) =>
  Array.isArray(value) ? listOf(block)(value, writer) : content(value, writer);

const messages: { readonly [Role in StoredMessage['role']]: Classes<Members<StoredMessage, 'role', Role>> } = {
  system: { role: closed, content: messageContent },
  user: { role: closed, content: messageContent },
  assistant: {
    role: closed,
    content: messageContent,
    stop_reason: name,
    error_message: content,
    model_id: name,
    usage: closed,
  },
  tool_result: { role: closed, tool_call_id: id, tool_name: name, content: messageContent, is_error: closed },
};

const message: FieldClass = (value, writer) => {
  const role = isJsonObject(value) ? value['role'] : undefined;
  if (typeof role !== 'string' || !Object.hasOwn(messages, role)) return content(value, writer);
  // `role` is one of the roles, as was just seen.
  return shape(messages[role as StoredMessage['role']])(value, writer);
};

const identity: Classes<RunIdentity> = {
  // A run lies in the store under its id.
  run_id: closed,
  parent_run_id: closed,
  depth: closed,
  conversation_id: id,
  agent_name: name,
  model_id: name,
};
const steering: Classes<SteeringStart> = {
  prompt_name: configured,
  deadline_at_unix_ms: closed,
  budget: closed,
  configuration_hash: closed,
  mode: closed,
  holdout: closed,
};
const pendingCall: Classes<StoredPendingCall> = { tool_call_id: id, tool_name: name, args: content };
const observation = { category: configured, description: configured, evidence: configured };
// What a speaker of either kind produced is stored with its name.
const advice: Classes<SpokenAdvice & Feedback & Assessment> = {
  providerName: configured,
  observerName: configured,
  summary: configured,
  observations: listOf(shape(observation)),
  suggestions: configured,
  severity: closed,
  atMs: closed,
  callIndex: closed,
  promptName: configured,
  pattern: closed,
};
const injection: Classes<GuidanceInjection> = {
  key: configured,
  content: configured,
  priority: closed,
  category: configured,
};
const classification: Classes<ClassificationResult> = {
  relevant: closed,
  confidence: closed,
  reason: configured,
  pattern: closed,
};
const guidance: Classes<GuidanceDelivered> = {
  providerName: configured,
  injection: shape(injection),
  decisionPoint: closed,
  classification: shape(classification),
  atMs: closed,
  delivered: closed,
  channel: name,
  reason: name,
};
const derived = { kind: closed, cause_seq: closed, ordinal: closed } as const;

type KnownPayload = Exclude<TrajectoryPayload, UnrecognisedPayload>;

/**
 * The class of every field of every payload: what of a record is content and what is structure. A kind or a field that is
 * added does not compile until it stands here; a field that no type names is content. Made when a kind is first met: a
 * short-lived process meets few.
 */
const payloads: { readonly [Payload in KnownPayload as Payload['kind']]: () => Classes<Payload> } = {
  run_started: () => ({
    kind: closed,
    identity: shape(identity),
    task: content,
    source: content,
    format: name,
    steering: shape(steering),
  }),
  run_ended: () => ({
    kind: closed,
    outcome: name,
    new_messages: listOf(message),
    success: closed,
    reward: closed,
    labels: content,
  }),
  turn_started: () => ({ kind: closed }),
  turn_ended: () => ({ kind: closed, assistant: message, tool_results: listOf(message) }),
  message_appended: () => ({ kind: closed, message }),
  tool_started: () => ({ kind: closed, tool_call_id: id, tool_name: name, args: content }),
  tool_ended: () => ({
    kind: closed,
    tool_call_id: id,
    tool_name: name,
    result,
    is_error: closed,
    error_inferred: closed,
    result_missing: closed,
    duration_ms: closed,
  }),
  provider_request_prepared: () => ({
    kind: closed,
    iteration: closed,
    model_id: name,
    system_prompt_chars: closed,
    message_count: closed,
    tool_count: closed,
    tools: name,
  }),
  context_transform_applied: () => ({
    kind: closed,
    iteration: closed,
    plugin: name,
    before_count: closed,
    after_count: closed,
  }),
  tool_gate_applied: () => ({ kind: closed, iteration: closed, plugin: name, allow: name }),
  tool_gate_conflict_resolved: () => ({
    kind: closed,
    iteration: closed,
    plugins: name,
    chosen_plugin: name,
    allow: name,
    reason: name,
  }),
  output_tokens_escalation: () => ({ kind: closed, attempt: closed, prev_cap: closed, new_cap: closed }),
  run_resumed: () => ({ kind: closed, trigger: name }),
  deadline_set: () => ({ kind: closed, deadline_at_unix_ms: closed }),
  completion_checked: () => ({ kind: closed, met: closed, missing: content, attempt: closed, gave_up: closed }),
  compaction: () => ({ kind: closed, trigger: name }),
  gap: () => ({ kind: closed, through_seq: closed, reason: configured }),
  evaluation: () => ({
    kind: closed,
    point: closed,
    pending_calls: listOf(shape(pendingCall)),
    last_response: content,
    rendered_prompt: content,
    // Files that triggers of the configuration name.
    files_created: configured,
    usage: closed,
  }),
  prompt_used: () => ({ kind: closed, prompt_name: configured }),
  session_event: () => ({ kind: closed, event_type: configured, data: content }),
  pattern_flagged: () => ({ ...derived, pattern: closed }),
  pattern_cleared: () => ({ ...derived, pattern: closed }),
  feedback_produced: () => ({
    ...derived,
    advice_id: closed,
    provider_name: configured,
    feedback: shape(advice),
    text: configured,
  }),
  guidance_produced: () => ({
    ...derived,
    advice_id: closed,
    provider_name: configured,
    injection: shape(injection),
    decision_point: closed,
    classification: shape(classification),
  }),
  feedback_delivered: () => ({
    kind: closed,
    advice_id: closed,
    provider_name: configured,
    delivered: closed,
    channel: name,
    reason: name,
  }),
  guidance_delivered: () => ({ kind: closed, advice_id: closed, guidance: shape(guidance) }),
  provider_failed: () => ({
    ...derived,
    provider_name: configured,
    phase: configured,
    code: configured,
    message: configured,
  }),
  provider_overran: () => ({ kind: closed, provider_name: configured, duration_ms: closed, limit_ms: closed }),
  fault_noticed: () => ({ kind: closed, where: configured, message: content }),
  model_answered: () => ({
    kind: closed,
    classifier_name: configured,
    instruction_id: configured,
    confidence: closed,
    fault_code: name,
    fault_message: content,
  }),
  advice_acknowledged: () => ({ kind: closed, advice_id: name, provider_name: name, response: closed, note: content }),
};

const met = new Map<string, FieldClass>();

function redactPayloadOf(kind: string): FieldClass | undefined {
  const known = met.get(kind);
  if (known !== undefined || !Object.hasOwn(payloads, kind)) return known;
  // `kind` is one of the kinds, as was just seen.
  const made = shape(payloads[kind as KnownPayload['kind']]());
  met.set(kind, made);
  return made;
}

const unrecognisedFields: FieldClass = shape({ kind: closed, original: shape({ kind: closed }), text: closed });

/** Its text stays only where it says nothing that was not looked at. */
const unrecognised: FieldClass = (value, writer) => {
  const made = unrecognisedFields(value, writer);
  // Only a payload of this kind gets here.
  const payload = made as unknown as UnrecognisedPayload;
  if (payload.text === undefined || (made === value && !repeatsMembers(payload))) return made;
  const { text: _, ...rest } = payload;
  return { ...rest };
};

/** The payload with every field written as its class says; the payload itself when nothing changed. */
export function redactFields(payload: TrajectoryPayload, writer: FieldWriter): TrajectoryPayload {
  // A payload is JSON, and each class keeps the type of its field.
  return (redactPayloadOf(payload.kind) ?? unrecognised)(
    payload as unknown as Json,
    writer,
  ) as unknown as TrajectoryPayload;
}
