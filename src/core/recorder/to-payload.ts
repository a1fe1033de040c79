import { present, isJsonObject, type Json, type JsonObject, type Mutable } from '../base/json.ts';
import type { AgentEvent, AgentIdentity } from '../records/agent-event.ts';
import type { AgentMessage, ContentBlock, StoredContentBlock, StoredMessage } from '../records/agent-message.ts';
import {
  type EmittedKind,
  type EventOf,
  type Fields,
  type PayloadOf,
  BLOCKS,
  FIGURES,
  MESSAGES,
  SHAPES,
} from '../records/shapes.ts';
import { isEmitted, isKnownKind } from '../records/kind-definition.ts';
import { KINDS } from '../records/kinds.ts';
import type { RunIdentity, TrajectoryPayload } from '../records/trajectory-record.ts';
import type { InputCounts, InputFault } from '../base/input-fault.ts';

export class InputTally {
  readonly #counts: Mutable<InputCounts> = {};
  #isClean = true;

  note(fault: InputFault, times = 1): void {
    this.#isClean = false;
    this.#counts[fault] = (this.#counts[fault] ?? 0) + times;
  }

  health(): { readonly input?: InputCounts } {
    return this.#isClean ? {} : { input: { ...this.#counts } };
  }
}

/** Undefined for a streaming delta and `agent_start`. Only renames, after `repairPayload`. An unknown type becomes `unrecognised`. */
export function toPayload(event: AgentEvent): TrajectoryPayload | undefined {
  switch (event.type) {
    case 'agent_start':
    case 'message_start':
    case 'message_update':
    case 'tool_execution_update':
      return undefined;
    case 'run_identified':
      return { kind: 'run_identified', ...readInSnakeCase(KINDS.run_identified.fields, event.identity) };
    case 'agent_end':
      return {
        kind: 'run_ended',
        outcome: event.outcome ?? 'ended',
        new_messages: mapList(event.messages, toStoredMessage),
        ...present({ reason: event.reason, success: event.success, reward: event.reward, labels: event.labels }),
        ...(event.costUsd === undefined ? {} : { usage: { cost_usd: event.costUsd } }),
      };
    case 'completion_checked':
      return {
        kind: 'completion_checked',
        met: event.met,
        missing: event.missing,
        attempt: event.attempt,
        ...(event.gaveUp === true ? { gave_up: true } : {}),
      };
    case 'turn_start':
      return { kind: 'turn_started' };
    case 'turn_end':
      return {
        kind: 'turn_ended',
        assistant: toStoredMessage(event.message),
        tool_results: mapList(event.toolResults, toStoredMessage),
      };
    case 'message_end':
      return { kind: 'message_appended', message: toStoredMessage(event.message) };
    case 'tool_execution_start':
      return {
        kind: 'tool_started',
        tool_call_id: event.toolCallId,
        tool_name: event.toolName,
        args: asJson(event.args),
        ...present({ annotations: event.annotations }),
      };
    case 'tool_execution_end':
      return {
        kind: 'tool_ended',
        tool_call_id: event.toolCallId,
        tool_name: event.toolName,
        result: asJson(event.result),
        is_error: event.isError,
        ...present({ outcome: event.outcome, duration_ms: event.durationMs }),
        ...(event.resultMissing === true ? { result_missing: true } : {}),
      };
    case 'unrecognised':
      return { kind: 'unrecognised', original: wrapUnrecognised(event.original) };
    case 'provider_request_prepared':
      return {
        kind: 'provider_request_prepared',
        iteration: event.iteration,
        model_id: event.modelId ?? null,
        system_prompt_chars: countCharacters(event.systemPrompt),
        message_count: countItems(event.messages),
        tool_count: countItems(event.tools),
        tools: mapList(event.tools, (tool) => tool.name),
      };
    case 'context_transform_applied':
      return {
        kind: 'context_transform_applied',
        iteration: event.iteration,
        plugin: event.plugin,
        before_count: countItems(event.before),
        after_count: countItems(event.after),
      };
    default:
      return emittedPayload(event);
  }
}

export function unknownType({ type }: { readonly type: unknown }, payload: TrajectoryPayload): string | undefined {
  if (payload.kind !== 'unrecognised' || type === 'unrecognised') return undefined;
  return `event type ${String(type).slice(0, 80)}`;
}

function emittedPayload(event: EventOf<EmittedKind>): TrajectoryPayload {
  const { type }: { readonly type: string } = event;
  if (!isEmitted(type)) {
    return { kind: 'unrecognised', original: { kind: 'unrecognised_event', event: asJson(event) } };
  }
  // The type of the event is made from the same definition.
  return { kind: type, ...readInSnakeCase(KINDS[type].fields, event) } as unknown as PayloadOf<EmittedKind>;
}

/** A host's value, which is JSON only after `repairPayload`. */
function asJson(value: unknown): Json {
  return value as Json;
}

/** Maps a list. Any other value is returned unchanged, because `repairPayload` repairs it. */
function mapList<Item, Made>(items: readonly Item[] | undefined, map: (item: Item) => Made): readonly Made[] {
  // `repairPayload` repairs a value that is not a list.
  return Array.isArray(items) ? items.map(map) : ((items ?? []) as readonly never[]);
}

function countItems(value: { readonly length: number } | undefined | null): number {
  return value?.length ?? 0;
}

/** Counts characters, not UTF-16 units. */
function countCharacters(text: string): number {
  if (typeof text !== 'string') return 0;
  return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
}

function wrapUnrecognised(original: JsonObject): JsonObject {
  const { kind } = isJsonObject(original) ? original : {};
  return typeof kind === 'string' && !isKnownKind(kind) ? original : { kind: 'unrecognised_event', event: original };
}

export function toStoredIdentity(identity: AgentIdentity): RunIdentity {
  // The members of an identity are these fields in camel case.
  return readInSnakeCase(SHAPES.identity, identity) as unknown as RunIdentity;
}

function toStoredMessage(message: AgentMessage): StoredMessage {
  // An untyped host may send anything; `repairPayload` repairs it.
  if (!isJsonObject(message) || !Object.hasOwn(MESSAGES, message.role)) return message as never;
  const { role } = message;
  const { usage, ...fields } = readInSnakeCase(MESSAGES[role], message);
  // The members of a message are the fields of its role in camel case.
  return {
    role,
    ...fields,
    content: typeof message.content === 'string' ? message.content : mapList(message.content, toStoredBlock),
    ...(isJsonObject(usage) ? { usage: readInSnakeCase(FIGURES.token_usage, usage) } : {}),
  } as unknown as StoredMessage;
}

function toStoredBlock(block: ContentBlock): StoredContentBlock {
  if (!isJsonObject(block) || !Object.hasOwn(BLOCKS, block.type)) return block as never;
  // The members of a block are the fields of its type in camel case.
  return { type: block.type, ...readInSnakeCase(BLOCKS[block.type], block) } as unknown as StoredContentBlock;
}

const CAMEL_CASE_NAMES = new WeakMap<Fields, readonly (readonly [name: string, member: string])[]>();

function readInSnakeCase(fields: Fields, object: object): Readonly<Record<string, unknown>> {
  let names = CAMEL_CASE_NAMES.get(fields);
  if (names === undefined) {
    names = Object.keys(fields).map((name) => [
      name,
      name.replaceAll(/_(.)/g, (_all, letter: string) => letter.toUpperCase()),
    ]);
    CAMEL_CASE_NAMES.set(fields, names);
  }
  // Any object can be read by name.
  const members = object as Readonly<Record<string, unknown>>;
  const values: Record<string, unknown> = {};
  for (const [name, member] of names) if (members[member] !== undefined) values[name] = members[member];
  return values;
}
