import { PbfReader, PbfWriter } from 'pbf';

import { CoxswainError, messageOf } from '../../core/base/error.ts';

/** A scalar type, or the message type of a field. `[]` marks a repeated field. */
type FieldType =
  | 'text'
  | 'id'
  | 'bytes'
  | 'bool'
  | 'int'
  | 'double'
  | 'fixed32'
  | 'fixed64'
  | MessageName
  | `${MessageName}[]`;
type MessageName = keyof typeof MESSAGES;

/** The messages of opentelemetry-proto 1.9 that coxswain uses. Maps each field number to the name in OTLP's JSON format and the type. */
const MESSAGES = {
  Request: { 1: ['resourceSpans', 'ResourceSpans[]'] },
  LogsRequest: { 1: ['resourceLogs', 'ResourceLogs[]'] },
  ResourceSpans: { 1: ['resource', 'Resource'], 2: ['scopeSpans', 'ScopeSpans[]'] },
  ResourceLogs: { 1: ['resource', 'Resource'], 2: ['scopeLogs', 'ScopeLogs[]'] },
  Resource: { 1: ['attributes', 'KeyValue[]'] },
  ScopeSpans: { 1: ['scope', 'Scope'], 2: ['spans', 'Span[]'] },
  ScopeLogs: { 1: ['scope', 'Scope'], 2: ['logRecords', 'LogRecord[]'] },
  Scope: { 1: ['name', 'text'] },
  Span: {
    1: ['traceId', 'id'],
    2: ['spanId', 'id'],
    4: ['parentSpanId', 'id'],
    5: ['name', 'text'],
    7: ['startTimeUnixNano', 'fixed64'],
    8: ['endTimeUnixNano', 'fixed64'],
    9: ['attributes', 'KeyValue[]'],
    10: ['droppedAttributesCount', 'int'],
    11: ['events', 'Event[]'],
    12: ['droppedEventsCount', 'int'],
    15: ['status', 'Status'],
    16: ['flags', 'fixed32'],
  },
  Event: { 2: ['name', 'text'], 3: ['attributes', 'KeyValue[]'] },
  Status: { 2: ['message', 'text'], 3: ['code', 'int'] },
  LogRecord: {
    1: ['timeUnixNano', 'fixed64'],
    5: ['body', 'AnyValue'],
    6: ['attributes', 'KeyValue[]'],
    9: ['traceId', 'id'],
    10: ['spanId', 'id'],
    11: ['observedTimeUnixNano', 'fixed64'],
    12: ['eventName', 'text'],
  },
  KeyValue: { 1: ['key', 'text'], 2: ['value', 'AnyValue'] },
  AnyValue: {
    1: ['stringValue', 'text'],
    2: ['boolValue', 'bool'],
    3: ['intValue', 'int'],
    4: ['doubleValue', 'double'],
    5: ['arrayValue', 'ArrayValue'],
    6: ['kvlistValue', 'KeyValueList'],
    7: ['bytesValue', 'bytes'],
  },
  ArrayValue: { 1: ['values', 'AnyValue[]'] },
  KeyValueList: { 1: ['values', 'KeyValue[]'] },
} as const satisfies Readonly<Record<string, Readonly<Record<number, readonly [string, string]>>>>;

/** Wire types of scalars. All other types have a length prefix. */
const WIRE: Readonly<Partial<Record<FieldType, number>>> = { bool: 0, int: 0, double: 1, fixed64: 1, fixed32: 5 };
const WITH_LENGTH = 2;
const MAX_DEPTH = 64;

/** Ids become hexadecimal. Throws CoxswainError `format-invalid` for malformed bytes, or nesting deeper than 64 levels. */
export function decodeProtobuf(bytes: Uint8Array, signal: 'traces' | 'logs'): unknown {
  try {
    const name = signal === 'traces' ? 'Request' : 'LogsRequest';
    return messageIn(new PbfReader(bytes), { end: bytes.length, name, depth: 0 });
  } catch (error) {
    const message = `the body is not an OTLP protobuf message: ${messageOf(error)}`;
    throw new CoxswainError('format-invalid', message, { cause: error });
  }
}

interface Place {
  readonly end: number;
  readonly name: MessageName;
  readonly depth: number;
}

function messageIn(reader: PbfReader, { end, name, depth }: Place): Readonly<Record<string, unknown>> {
  if (depth > MAX_DEPTH) throw new Error(`it nests deeper than ${MAX_DEPTH} levels`);
  const fields: Readonly<Record<number, readonly [string, string] | undefined>> = MESSAGES[name];
  const message: Record<string, unknown> = {};
  for (let number = reader.nextField(end); number !== 0; number = reader.nextField(end)) {
    const field = fields[number];
    if (field === undefined) continue;
    const [key, fieldType] = field;
    // The values are keys of the table.
    const type = fieldType as FieldType;
    if (reader.type !== (WIRE[type] ?? WITH_LENGTH)) throw new Error(`${name}.${key} is of another type`);
    const value = valueIn(reader, type, { end, depth });
    if (reader.pos > end) throw new Error('it is cut off');
    if (!type.endsWith('[]')) message[key] = value;
    else if (Array.isArray(message[key])) message[key].push(value);
    else message[key] = [value];
  }
  if (reader.pos !== end) throw new Error('it is cut off');
  return message;
}

function valueIn(reader: PbfReader, type: FieldType, { end, depth }: Omit<Place, 'name'>): unknown {
  switch (type) {
    case 'text':
      return reader.readString();
    case 'id':
      return Buffer.from(reader.readBytes()).toString('hex');
    case 'bytes':
      return Buffer.from(reader.readBytes()).toString('base64');
    case 'bool':
      return reader.readBoolean();
    case 'int':
      return reader.readVarint(true);
    case 'double':
      return reader.readDouble();
    case 'fixed32':
      return reader.readFixed32();
    case 'fixed64':
      // Time in nanoseconds. As a double it is precise to 256 ns.
      return String(reader.readFixed64());
    default: {
      const ownEnd = reader.readVarint() + reader.pos;
      if (ownEnd > end) throw new Error('it is cut off');
      // Any type that is not a scalar is a message.
      return messageIn(reader, { end: ownEnd, name: type.replace('[]', '') as MessageName, depth: depth + 1 });
    }
  }
}

export function encodeSuccess(refusedCount: number, reason: string): Uint8Array {
  const writer = new PbfWriter();
  const writePartial = (count: number, partial: PbfWriter): void => {
    partial.writeVarintField(1, count);
    partial.writeStringField(2, reason);
  };
  if (refusedCount > 0) writer.writeMessage(1, writePartial, refusedCount);
  return writer.finish();
}

export function encodeStatus(message: string): Uint8Array {
  const writer = new PbfWriter();
  writer.writeStringField(2, message);
  return writer.finish();
}
