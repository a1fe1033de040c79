import { isJsonObject } from '../../core/base/json.ts';
import type { AgentShape, FunctionTool, ModelRequest } from './sdk-shapes.ts';
import { isChained } from './to-events.ts';

/**
 * Appends a message to the input of a request. The SDK keeps its own list, so neither its history nor a session contains the
 * message. If the provider stores the input, the text is added to the instructions instead. The provider does not store
 * instructions, so the text applies to this request only.
 *
 * @returns the request and the channel of the text
 */
export function withGuidance<Request extends ModelRequest>(
  request: Request,
  items: readonly unknown[],
  text: string,
): { readonly request: Request; readonly channel: string } {
  if (!isChained(request)) {
    const input = [...items, { type: 'message', role: 'system', content: text }];
    return { request: { ...request, input }, channel: 'request' };
  }
  const { systemInstructions } = request;
  const instructions = systemInstructions === undefined ? text : `${systemInstructions}\n\n${text}`;
  return { request: { ...request, systemInstructions: instructions }, channel: 'instructions' };
}

/** Appends feedback to a tool's result. Call it only for results that `carriesFeedback` accepts. */
export function withFeedback(result: unknown, feedback: string): unknown {
  const feedbackPart = { type: 'text', text: feedback };
  if (isPart(result)) return [result, feedbackPart];
  if (isPartList(result)) return [...result, feedbackPart];
  return `${ownText(result)}\n\n${feedback}`;
}

/** Returns the text that the SDK creates from a result that is not a content part. */
function ownText(result: unknown): string {
  switch (typeof result) {
    case 'string':
      return result;
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(result);
    default:
      return JSON.stringify(result);
  }
}

/**
 * Returns true if feedback can be added to a result. It cannot be added if a schema describes the result, or if the result
 * contains bytes, which the SDK converts to its own text.
 */
export function carriesFeedback(tool: FunctionTool, result: unknown): boolean {
  if (tool.outputSchema !== undefined) return false;
  return isPart(result) || isPartList(result) || isPlain(result);
}

/** Returns true if the SDK may end the run with a tool's result. The user then reads the result, so no feedback may be added. */
export function mayEndWith(agent: AgentShape | undefined, toolName: string): boolean {
  const behaviour = agent?.toolUseBehavior;
  if (behaviour === undefined || behaviour === 'run_llm_again') return false;
  const names = isJsonObject(behaviour) ? behaviour['stopAtToolNames'] : undefined;
  return Array.isArray(names) ? names.includes(toolName) : true;
}

/** Returns true for a content part that the SDK passes to the model unchanged. */
function isPart(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { type, text, image, file } = value;
  if (type === 'text') return typeof text === 'string';
  return (type === 'image' && image !== undefined) || (type === 'file' && file !== undefined);
}

function isPartList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0 && value.every(isPart);
}

const MAX_DEPTH = 16;

const JSON_TYPES: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'undefined']);

/** Returns true for a value that the SDK serialises as standard JSON. */
function isPlain(value: unknown, depth = 0): boolean {
  if (value === null || JSON_TYPES.has(typeof value)) return true;
  // JSON omits functions and rejects bigints.
  if (typeof value !== 'object') return depth > 0 && typeof value !== 'bigint';
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  const isObject = prototype === Object.prototype || prototype === null;
  // A serialised buffer, which the SDK shortens.
  if (!isObject || ('type' in value && value.type === 'Buffer')) return false;
  return Object.values(value).every((item) => isPlain(item, depth + 1));
}
