import { membersOf, textOrUndefined, type Json, isJsonObject } from '../../core/base/json.ts';
import type { CallShape } from './call-ids.ts';
import { decodeJson } from '../reading/json-text.ts';
import { asJson } from './source-content.ts';

/** Name used for a call without a name. */
const UNNAMED = 'unknown';

/**
 * Reads a call in the OpenAI formats `{id, function: {name, arguments}}`, `{id, name, arguments}` and `{call_id, name,
 * arguments}`, or in ATIF's format `{tool_call_id, function_name, arguments}`.
 */
export function sourceCall(value: unknown): CallShape {
  const call = membersOf(value);
  const inner = isJsonObject(call.function) ? call.function : isJsonObject(call.custom) ? call.custom : call;
  return {
    sourceId: textOrUndefined(call.tool_call_id) ?? textOrUndefined(call.call_id) ?? textOrUndefined(call.id),
    name: textOrUndefined(inner.name) ?? textOrUndefined(call.function_name) ?? UNNAMED,
    args: callArguments(inner.arguments ?? inner.input),
  };
}

/** Returns arguments as JSON. Text is decoded. It stays text if it is not JSON, for example if the call is truncated or free-form. */
export function callArguments(value: unknown): Json {
  if (value === undefined || value === null || value === '') return {};
  if (typeof value !== 'string') return asJson(value);
  const decoded = decodeJson(value);
  return decoded.ok ? asJson(decoded.value) : value;
}
