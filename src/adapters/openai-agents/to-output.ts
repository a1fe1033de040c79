import { isJsonObject } from '../../base/json.ts';
import type { AgentShape, FunctionTool, ModelRequest } from './sdk-shapes.ts';
import { isChained } from './to-events.ts';

/**
 * A request with one more message at the end of its input. The SDK keeps its own list, so neither its history nor a
 * session includes it. If the provider stores the input, the text goes into the instructions, which are not stored, so
 * that it does not stay.
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

/** A tool's result followed by feedback. Only for results accepted by `carriesFeedback`. */
export function withFeedback(result: unknown, feedback: string): unknown {
  const added = { type: 'text', text: feedback };
  if (isPart(result)) return [result, added];
  if (isPartList(result)) return [...result, added];
  return `${ownText(result)}\n\n${feedback}`;
}

/** The text that the SDK makes of a result that is not a content part. */
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
 * True if feedback can be added to a result: not if a schema describes the result, or if it contains bytes,
 * which the SDK turns into its own text.
 */
export function carriesFeedback(tool: FunctionTool, result: unknown): boolean {
  if (tool.outputSchema !== undefined) return false;
  return isPart(result) || isPartList(result) || isPlain(result);
}

/** True if the SDK may end the run with a tool's result: then the user reads it, and nothing may be added. */
export function mayEndWith(agent: AgentShape | undefined, toolName: string): boolean {
  const behaviour = agent?.toolUseBehavior;
  if (behaviour === undefined || behaviour === 'run_llm_again') return false;
  const names = isJsonObject(behaviour) ? behaviour['stopAtToolNames'] : undefined;
  return Array.isArray(names) ? names.includes(toolName) : true;
}

/** A part that the SDK passes to the model unchanged. */
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

/** True for values that the SDK serialises as standard JSON. */
function isPlain(value: unknown, depth = 0): boolean {
  if (value === null || JSON_TYPES.has(typeof value)) return true;
  // JSON omits functions and rejects bigints.
  if (typeof value !== 'object') return depth > 0 && typeof value !== 'bigint';
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  const isObject = prototype === Object.prototype || prototype === null;
  // A serialised buffer: the SDK shortens it.
  if (!isObject || ('type' in value && value.type === 'Buffer')) return false;
  return Object.values(value).every((item) => isPlain(item, depth + 1));
}
