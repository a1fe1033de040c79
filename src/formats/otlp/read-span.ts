import { textOrUndefined } from '../../base/json-member.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Mutable } from '../../base/mutable.ts';
import type { StoredUsage } from '../../records/stored-message.ts';
import { CONVENTIONS, type Convention, type SpanField, type SpanRole } from './conventions.ts';
import { GENAI_EVENTS } from './genai-names.ts';
import { decodedValue } from './read-messages.ts';
import { attributeOf, type TraceSpan } from './trace-span.ts';

/** A span whose convention is known. */
export interface KnownSpan {
  readonly span: TraceSpan;
  readonly role: SpanRole;
  /** Returns the value of a field, which is the first of its attributes that is present. */
  readonly field: (field: SpanField) => Json | undefined;
}

const USAGE: readonly (readonly [keyof StoredUsage, SpanField])[] = [
  ['input_tokens', 'inputTokens'],
  ['output_tokens', 'outputTokens'],
  ['cache_read_tokens', 'cacheReadTokens'],
  ['cache_write_tokens', 'cacheWriteTokens'],
  ['reasoning_tokens', 'reasoningTokens'],
  ['cost_usd', 'cost'],
];

/**
 * Classifies a span by the first convention that knows its kind. Undefined if no convention does.
 *
 * @param details  attributes of the span that arrived separately
 */
export function readSpan(span: TraceSpan, details: JsonObject = {}): KnownSpan | undefined {
  const ofEvents = span.events.filter(
    ({ name }) => name === GENAI_EVENTS.operationDetails || name === GENAI_EVENTS.exception,
  );
  const attributes: JsonObject = Object.assign(
    {},
    ...ofEvents.map((event) => event.attributes),
    details,
    span.attributes,
  );
  for (const convention of CONVENTIONS) {
    const role = roleIn(convention, attributes);
    if (role === undefined) continue;
    const fieldValue = (name: SpanField): Json | undefined => {
      for (const attribute of convention.fields[name] ?? []) {
        const attribute2 = attributeOf(attributes, attribute);
        if (attribute2 !== undefined) return attribute2;
      }
      return undefined;
    };
    return { span, role, field: fieldValue };
  }
  return undefined;
}

/** Returns true for agent spans and their details. Other spans only define the hierarchy. */
export function isOfAgent(span: TraceSpan): boolean {
  return span.details === true || readSpan(span) !== undefined;
}

function roleIn({ kinds }: Convention, attributes: JsonObject): SpanRole | undefined {
  for (const [attribute, roles] of Object.entries(kinds)) {
    const kind = textOrUndefined(attributeOf(attributes, attribute))?.toLowerCase();
    if (kind !== undefined && Object.hasOwn(roles, kind)) return roles[kind];
  }
  return undefined;
}

export function fieldText({ field }: KnownSpan, name: SpanField): string | undefined {
  return textOrUndefined(field(name));
}

/** Returns a field with any type of value. Text is decoded if it contains an object, a list or a quoted string. */
export function valueField({ field }: KnownSpan, name: SpanField): Json | undefined {
  const finishField = field(name);
  return typeof finishField === 'string' && /^\s*[[{"]/.test(finishField) ? decodedValue(finishField) : finishField;
}

/** Returns why the model stopped. */
export function finishReason(known: KnownSpan): string | undefined {
  const found = valueField(known, 'finish');
  // The list has one reason per answer. Only the first answer is read.
  return textOrUndefined(Array.isArray(found) ? found[0] : found);
}

/** Returns tokens and cost. Log events write numbers as text. */
export function spanUsage({ field }: KnownSpan): StoredUsage | undefined {
  const usage: Mutable<StoredUsage> = {};
  for (const [name, from] of USAGE) {
    const value = field(from);
    const count = typeof value === 'string' && value !== '' ? Number(value) : value;
    if (typeof count === 'number' && Number.isFinite(count) && count >= 0) usage[name] = count;
  }
  return Object.keys(usage).length === 0 ? undefined : usage;
}

/** Returns true if the operation failed, according to its status, its `success` field, or its error type. */
export function failedIn(known: KnownSpan): boolean {
  const success = known.field('success');
  return known.span.status === 'error' || success === false || success === 'false' || errorTypeOf(known) !== undefined;
}

export function errorTypeOf({ span }: KnownSpan): string | undefined {
  return textOrUndefined(attributeOf(span.attributes, 'error.type'));
}

/** Error message. */
export function errorText(known: KnownSpan): string | undefined {
  const error = known.field('error');
  const text = isJsonObject(error) ? JSON.stringify(error) : textOrUndefined(error);
  return text ?? known.span.statusMessage ?? errorTypeOf(known);
}
