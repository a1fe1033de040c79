import {
  type JsonMembers,
  listOf,
  membersOf,
  numberOrUndefined,
  textOrUndefined,
  type Json,
  isJsonObject,
  type JsonObject,
  present,
} from '../../core/base/json.ts';
import { hashText } from '../../core/base/hash.ts';
import { plainText } from '../parts/object-lines.ts';
import { asJson, sourceTimeMs } from '../parts/source-content.ts';
import { decodedValue } from './read-messages.ts';
import { GENAI, GENAI_EVENTS, GENAI_MESSAGE_EVENTS } from './read-span.ts';
import { attributeOf, hexId, sessionTraceId, type TraceSpan } from './trace-span.ts';

interface LogFacts {
  readonly named: unknown;
  readonly body: Json;
  readonly attributes: JsonObject;
  readonly resource: JsonObject;
  readonly scope: string | undefined;
}

/** Agent programs whose log events are read, with the prefix of their events and the session attribute. */
const PROGRAMS = [
  { prefix: 'claude_code.', service: /claude-code|claude_code/, session: 'session.id' },
  { prefix: 'codex.', service: /codex/, session: 'conversation.id' },
] as const;

interface LogSession {
  readonly event: string;
  readonly program: string;
  readonly id: string;
  readonly attribute: string;
}

/** Returns the event and session of a log record from an agent program. Undefined for any other record. */
function logSession(log: LogFacts): LogSession | undefined {
  const names = [log.named, log.body].filter((name) => typeof name === 'string');
  const service = `${textOrUndefined(log.resource['service.name']) ?? ''} ${log.scope ?? ''}`;
  for (const { prefix, service: serviceName, session } of PROGRAMS) {
    const fullName = names.find((name) => name.startsWith(prefix));
    // Claude Code's `event.name` lacks the prefix that the body of the record has.
    const event =
      fullName ?? (serviceName.test(service) && names[0] !== undefined ? `${prefix}${names[0]}` : undefined);
    if (event === undefined) continue;
    const id = textOrUndefined(log.attributes[session]) ?? textOrUndefined(log.resource[session]);
    if (id === undefined) return undefined;
    const kind = textOrUndefined(log.attributes['event.kind']);
    return { event: kind === undefined ? event : `${event} ${kind}`, program: prefix, id, attribute: session };
  }
  return undefined;
}

export interface FoundSpans {
  readonly spans: readonly TraceSpan[];
  /** Number of spans without ids or a time, and of unknown log records. */
  readonly unusable: number;
  /** Number of log records that belong to no agent. */
  readonly unread: number;
}

/** Names of equivalent fields in OTLP, the SDKs' console exporters, Phoenix and Langfuse. */
const NAMES = {
  traceId: ['traceId', 'trace_id', 'context.trace_id', 'context.traceId', 'spanContext.traceId'],
  spanId: ['spanId', 'span_id', 'context.span_id', 'context.spanId', 'spanContext.spanId', 'id'],
  parentId: [
    'parentSpanId',
    'parent_span_id',
    'parentId',
    'parent_id',
    'parentSpanContext.spanId',
    'parentObservationId',
  ],
  start: ['startTimeUnixNano', 'start_time_unix_nano', 'startTime', 'start_time', 'timestamp'],
  end: ['endTimeUnixNano', 'end_time_unix_nano', 'endTime', 'end_time'],
  status: ['status.code', 'status.status_code', 'status_code', 'level'],
  statusMessage: ['status.message', 'status.description', 'status_message', 'statusMessage'],
} as const;

/** Fields in which documents store their spans. */
const LISTS = ['data', 'observations', 'spans'] as const;
const NO_ID = /^(?:0x)?0*$/;
const STATUS: ReadonlyMap<string, 'ok' | 'error'> = new Map([
  ['1', 'ok'],
  ['ok', 'ok'],
  ['status_code_ok', 'ok'],
  ['2', 'error'],
  ['error', 'error'],
  ['status_code_error', 'error'],
]);
/** Bit of `SpanFlags`: the parent is known to be in another process. */
const REMOTE_PARENT = 0x200;
const MAX_VALUE_DEPTH = 32;
const MAX_ID_CHARS = 128;

/** An OTLP request or line, a span, a list of spans, or a document of Phoenix or Langfuse. Never throws. */
export function readSpans(value: unknown): FoundSpans | undefined {
  const spans: TraceSpan[] = [];
  let unusableCount = 0;
  let unreadCount = 0;
  const addSpan = (span: TraceSpan | undefined): void => {
    if (span === undefined) unusableCount += 1;
    else spans.push(span);
  };
  const lists = listsOf(value);
  if (lists === undefined) return undefined;
  for (const item of lists.spans) addSpan(spanOf(membersOf(item)));
  for (const { resource, scope, record } of lists.logs) {
    const span = logSpan(record, resource, scope);
    if (span === 'unread') unreadCount += 1;
    else addSpan(span);
  }
  return { spans: withJoinedEvents(spans), unusable: unusableCount, unread: unreadCount };
}

const CALL_EVENT = /^(.{1,200})\.(start|success|error|finish)-(\d{1,12})$/;

/** BeeAI makes a span of each event of a request or a call. Its start receives the attributes and the end of the others. */
function withJoinedEvents(spans: readonly TraceSpan[]): readonly TraceSpan[] {
  const eventOf = ({ name, traceId }: TraceSpan): { readonly key: string; readonly type: string } | undefined => {
    const [, base, type = '', number = ''] = CALL_EVENT.exec(name) ?? [];
    return base === undefined ? undefined : { key: `${traceId} ${base} ${number}`, type };
  };
  const starts = new Map<string, TraceSpan>();
  for (const span of spans) {
    const event = eventOf(span);
    if (event?.type === 'start' && attributeOf(span.attributes, 'target') === span.name.replace(/-\d+$/, ''))
      starts.set(event.key, span);
  }
  if (starts.size === 0) return spans;
  const kept: TraceSpan[] = [];
  for (const span of spans) {
    const event = eventOf(span);
    const start = event && starts.get(event.key);
    if (event === undefined || start === undefined) kept.push(span);
    else if (event.type !== 'start')
      starts.set(event.key, {
        ...start,
        attributes: {
          ...present({ 'input.value': start.attributes['tool.parameters'] }),
          ...span.attributes,
          ...start.attributes,
        },
        // All of them last to the end of the trace.
        endMs: span.startMs,
        ...(event.type === 'error' ? { status: 'error' } : {}),
      });
  }
  return [...kept, ...starts.values()];
}

interface FoundLists {
  readonly spans: readonly unknown[];
  readonly logs: readonly {
    readonly resource: JsonObject;
    readonly scope: JsonMembers;
    readonly record: JsonMembers;
  }[];
}

function listsOf(value: unknown): FoundLists | undefined {
  if (Array.isArray(value)) {
    const itemLists = value.map((item) => listsOf(item));
    const foundLists = itemLists.filter((lists) => lists !== undefined);
    if (foundLists.length === 0) return undefined;
    return { spans: foundLists.flatMap(({ spans }) => spans), logs: foundLists.flatMap(({ logs }) => logs) };
  }
  if (!isJsonObject(value)) return undefined;
  const resourceSpans = value['resourceSpans'] ?? value['resource_spans'];
  const resourceLogs = value['resourceLogs'] ?? value['resource_logs'];
  if (Array.isArray(resourceSpans) || Array.isArray(resourceLogs)) {
    const spans = scopesOf(resourceSpans, 'Spans').flatMap(({ scope }) => listOf(scope['spans']));
    const logs = scopesOf(resourceLogs, 'Logs').flatMap(({ resource, scope }) =>
      listOf(scope['logRecords'] ?? scope['log_records']).map((record) => ({
        resource,
        scope: membersOf(scope['scope']),
        record: membersOf(record),
      })),
    );
    return { spans, logs };
  }
  if (isSpan(value)) return { spans: [value], logs: [] };
  for (const name of LISTS) {
    const trace = membersOf(value['trace']);
    const inner: unknown = value[name] ?? trace[name];
    if (Array.isArray(inner) && inner.some((item) => isSpan(membersOf(item))))
      return { spans: withInput(inner, value['input'] ?? trace['input']), logs: [] };
  }
  return undefined;
}

/** Langfuse keeps the input of a trace beside its observations. */
function withInput(observations: readonly unknown[], input: unknown): readonly unknown[] {
  return observations.map((item) => {
    const observation = membersOf(item);
    return (observation['parentObservationId'] ?? observation['input'] ?? undefined) === undefined
      ? { ...observation, input }
      : item;
  });
}

function scopesOf(
  resources: unknown,
  kind: 'Spans' | 'Logs',
): readonly { readonly resource: JsonObject; readonly scope: JsonMembers }[] {
  return listOf(resources).flatMap((item) => {
    const members = membersOf(item);
    const resource = attributesOf(membersOf(members['resource'])['attributes']);
    const scopes = members[`scope${kind}`] ?? members[`scope_${kind.toLowerCase()}`];
    return listOf(scopes).map((scope) => ({ resource, scope: membersOf(scope) }));
  });
}

function isSpan(value: JsonMembers): boolean {
  const isTraced = idAt(value, NAMES.traceId) !== undefined && idAt(value, NAMES.spanId) !== undefined;
  return isTraced && firstOf(value, NAMES.start) !== undefined && value['name'] !== undefined;
}

function spanOf(value: JsonMembers): TraceSpan | undefined {
  const traceId = traceIdOf(value);
  const spanId = idAt(value, NAMES.spanId);
  const startMs = timeMs(firstOf(value, NAMES.start));
  if (traceId === undefined || spanId === undefined || startMs === undefined) return undefined;
  const parentId = idAt(value, NAMES.parentId);
  // The console exporter of the JavaScript SDK writes microseconds.
  const duration = numberOrUndefined(value['duration']);
  const endMs = timeMs(firstOf(value, NAMES.end)) ?? (duration === undefined ? undefined : startMs + duration / 1_000);
  const dropped = [value['droppedAttributesCount'], value['droppedEventsCount']].reduce<number>(
    (sum, count) => sum + (numberOrUndefined(count) ?? 0),
    0,
  );
  const attributes = { ...kindOfPhoenix(value), ...observationAttributes(value), ...attributesOf(value['attributes']) };
  // Langfuse's SDK may report a failure only here.
  const level = plainText(attributes['langfuse.observation.level']).toLowerCase();
  return {
    traceId,
    spanId,
    ...present({ parentId: parentId === spanId ? undefined : parentId }),
    ...((numberOrUndefined(value['flags']) ?? 0) & REMOTE_PARENT ? { remoteParent: true } : {}),
    name: textOrUndefined(value['name']) ?? '',
    startMs,
    ...present({ endMs: endMs === undefined ? undefined : Math.max(startMs, endMs) }),
    attributes,
    events: listOf(value['events']).map((item) => {
      const event = membersOf(item);
      return { name: textOrUndefined(event['name']) ?? '', attributes: attributesOf(event['attributes']) };
    }),
    ...present({
      status: STATUS.get(plainText(firstOf(value, NAMES.status)).toLowerCase()) ?? STATUS.get(level),
      statusMessage: textOrUndefined(firstOf(value, NAMES.statusMessage)),
      dropped: dropped > 0 ? dropped : undefined,
    }),
  };
}

/** Phoenix' client and REST API write the kind of a span beside its attributes. */
function kindOfPhoenix({ context, span_kind: kind }: JsonMembers): JsonObject {
  const isPhoenix = isJsonObject(context) && typeof kind === 'string';
  return isPhoenix ? { 'openinference.span.kind': kind } : {};
}

function observationAttributes(value: JsonMembers): JsonObject {
  if (typeof value['type'] !== 'string' || !('traceId' in value) || 'attributes' in value) return {};
  // The traces that a person downloads have it as text.
  const metadata = membersOf(decodedValue(asJson(value['metadata'])));
  const { type, input, output, model, providedModelName, usageDetails, sessionId } = value;
  return {
    // The original attributes. Present if the observation arrived through OpenTelemetry.
    ...attributesOf(metadata['attributes']),
    ...(present({
      'langfuse.observation.type': type,
      'langfuse.observation.input': asJson(input),
      'langfuse.observation.output': asJson(output),
      'langfuse.observation.model.name': model ?? providedModelName,
      'langfuse.observation.usage_details': usageDetails ?? value['usage'],
      'langfuse.session.id': sessionId,
      // These are fields of decoded JSON.
    }) as JsonObject),
  };
}

/** Converts a log record to a span. It contains details of another span, or an agent program's event with its own duration. */
function logSpan(record: JsonMembers, resource: JsonObject, scope: JsonMembers): TraceSpan | 'unread' | undefined {
  const attributes = attributesOf(record['attributes']);
  const body = valueOf(record['body'], 0);
  const eventName = textOrUndefined(record['eventName'] ?? record['event_name']) ?? attributes['event.name'];
  const atMs =
    timeMs(record['timeUnixNano'] ?? record['time_unix_nano']) ??
    timeMs(attributes['event.timestamp']) ??
    timeMs(record['observedTimeUnixNano'] ?? record['observed_time_unix_nano']);
  const traceId = traceIdOf(record);
  const spanId = idAt(record, NAMES.spanId.slice(0, 2));
  if (eventName === GENAI_EVENTS.operationDetails) {
    if (traceId === undefined || spanId === undefined) return undefined;
    const members = { ...(isJsonObject(body) ? body : {}), ...attributes };
    return { traceId, spanId, name: eventName, startMs: atMs ?? 0, attributes: members, events: [], details: true };
  }
  const messageRole = GENAI_MESSAGE_EVENTS.get(eventName);
  if (messageRole !== undefined) {
    if (traceId === undefined || spanId === undefined) return undefined;
    const messages = messageAttributes(messageRole, isJsonObject(body) ? body : { content: body });
    return {
      traceId,
      spanId,
      name: plainText(eventName),
      startMs: atMs ?? 0,
      attributes: messages,
      events: [],
      details: true,
    };
  }
  const session = logSession({ named: eventName, body, attributes, resource, scope: textOrUndefined(scope['name']) });
  if (session === undefined) return 'unread';
  if (atMs === undefined) return undefined;
  const durationMs = Number(attributes['duration_ms'] ?? 0);
  const startMs = durationMs > 0 ? atMs - durationMs : atMs;
  return {
    traceId: sessionTraceId(session.program, session.id),
    // Equal records get the same id, because an exporter that receives no response sends them again.
    spanId: hashText(JSON.stringify([session.event, atMs, attributes])),
    name: session.event,
    startMs,
    endMs: atMs,
    attributes: { ...attributes, [session.attribute]: session.id, 'event.name': session.event },
    events: [],
    isEvent: true,
  };
}

function messageAttributes(role: 'system' | 'user' | 'assistant' | 'tool' | 'choice', body: JsonObject): JsonObject {
  if (role === 'choice') {
    const { index, message, finish_reason: finish = null } = body;
    // Only the first of several choices is the answer.
    if (typeof index === 'number' && index > 0) return {};
    const members = isJsonObject(message) ? message : {};
    return { [GENAI.outputMessages]: [{ role: 'assistant', ...members, finish_reason: finish }] };
  }
  const id = role === 'tool' && body['id'] !== undefined ? { tool_call_id: body['id'] } : {};
  return { [GENAI.inputMessages]: [{ role, ...body, ...id }] };
}

function attributesOf(value: unknown): JsonObject {
  if (Array.isArray(value)) {
    const entries = value.map((item) => {
      const { key, value: raw } = membersOf(item);
      return [typeof key === 'string' ? key : '', valueOf(raw, 0)] as const;
    });
    return Object.fromEntries(entries.filter(([key]) => key !== ''));
  }
  // Decoded JSON.
  return isJsonObject(value) ? (value as JsonObject) : {};
}

/** Decodes an `AnyValue`. Nesting deeper than 32 levels becomes null. */
function valueOf(value: unknown, depth: number): Json {
  if (!isJsonObject(value) || depth > MAX_VALUE_DEPTH) return typeof value === 'string' ? value : null;
  if ('stringValue' in value) return asJson(value['stringValue']);
  if ('boolValue' in value) return asJson(value['boolValue']);
  if ('doubleValue' in value) return asJson(value['doubleValue']);
  if ('intValue' in value) {
    const count = Number(value['intValue']);
    return Number.isFinite(count) ? count : null;
  }
  if ('arrayValue' in value) {
    return listOf(membersOf(value['arrayValue'])['values']).map((item) => valueOf(item, depth + 1));
  }
  if ('kvlistValue' in value) {
    const pairs = listOf(membersOf(value['kvlistValue'])['values']).map((item) => membersOf(item));
    return Object.fromEntries(pairs.map(({ key, value: inner }) => [String(key), valueOf(inner, depth + 1)]));
  }
  return 'bytesValue' in value ? asJson(value['bytesValue']) : null;
}

/** Accepts nanoseconds as text, ISO text, seconds and nanoseconds, or a number in any unit. */
function timeMs(value: unknown): number | undefined {
  if (Array.isArray(value)) {
    const [seconds, nanos] = value.map(Number);
    return seconds === undefined || nanos === undefined ? undefined : positiveMs(seconds * 1_000 + nanos / 1e6);
  }
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return positiveMs(Number(value) / 1e6);
  if (typeof value === 'number' && value > 1e17) return positiveMs(value / 1e6);
  return sourceTimeMs(value);
}

function positiveMs(ms: number): number | undefined {
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

function traceIdOf(value: JsonMembers): string | undefined {
  const id = idAt(value, NAMES.traceId);
  return id === undefined ? undefined : hexId(id);
}

/** Returns a span or trace id. Python writes `0x` before ids. An id of zeros counts as missing. */
function idAt(value: JsonMembers, names: readonly string[]): string | undefined {
  const foundValue = firstOf(value, names);
  return typeof foundValue === 'string' && foundValue.length <= MAX_ID_CHARS && !NO_ID.test(foundValue)
    ? foundValue.replace(/^0x/, '')
    : undefined;
}

function firstOf(value: JsonMembers, names: readonly string[]): unknown {
  for (const name of names) {
    const [outer = '', inner] = name.split('.');
    const foundValue = inner === undefined ? value[outer] : membersOf(value[outer])[inner];
    if (foundValue !== undefined && foundValue !== null && foundValue !== '') return foundValue;
  }
  return undefined;
}
