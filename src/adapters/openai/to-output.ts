import { isJsonObject } from '../../core/base/json.ts';
import type { ModelRequest } from './model-request.ts';
import type { ChatToolMessage, CustomToolCallOutput, FunctionCallOutput, ToolCall } from './sdk-shapes.ts';

export type GuidanceRole = 'system' | 'developer' | 'user';

type Members = Readonly<Record<string, unknown>>;

/**
 * The last message, so that the provider can use its cache for all before it. If the provider stores the input, the
 * text goes to `instructions`, which do not apply to later requests.
 *
 * @returns the body and the channel of the text
 */
export function withGuidance(
  body: Members,
  request: ModelRequest,
  guidance: { readonly text: string; readonly role: GuidanceRole },
): { readonly body: Members; readonly channel: string } {
  const { text: content, role } = guidance;
  if (request.api === 'chat') return { body: { ...body, messages: [...request.items, { role, content }] }, channel };
  if (request.startsChain) return { body: withInstructions(body, content), channel: 'instructions' };
  return { body: { ...body, input: [...request.items, { role, content }] }, channel };
}

const channel = 'request';

function withInstructions(body: Members, text: string): Members {
  const { instructions } = body;
  return { ...body, instructions: typeof instructions === 'string' ? `${instructions}\n\n${text}` : text };
}

/** Returns the text that `runTools` creates from a tool's return value. */
export function runnerText(result: unknown): string {
  if (typeof result === 'string') return result;
  // JSON omits undefined, functions and symbols.
  const text: unknown = JSON.stringify(result);
  return typeof text === 'string' ? text : 'undefined';
}

export function withFeedback(text: string, feedback: string): string {
  return `${text}\n\n${feedback}`;
}

export function toolOutput(
  call: ToolCall,
  result: unknown,
  feedback: string | undefined,
): ChatToolMessage | FunctionCallOutput<unknown> | CustomToolCallOutput<unknown> {
  switch (call.type) {
    case 'function_call':
      return {
        type: 'function_call_output',
        ...callerOf(call),
        call_id: call.call_id,
        output: outputParts(result, feedback),
      };
    case 'custom_tool_call':
      return {
        type: 'custom_tool_call_output',
        ...callerOf(call),
        call_id: call.call_id,
        output: outputParts(result, feedback),
      };
    default:
      return { role: 'tool', tool_call_id: call.id, content: chatContent(result, feedback) };
  }
}

/** If a program that the model wrote made the call, its output must name the same program. */
function callerOf(call: object): object {
  const caller = 'caller' in call ? call.caller : undefined;
  return isJsonObject(caller) ? { caller } : {};
}

function chatContent(result: unknown, feedback: string | undefined): ChatToolMessage['content'] {
  if (isPartList(result)) {
    const feedbackParts = feedback === undefined ? [] : [{ type: 'text', text: feedback } as const];
    // The parts come from the caller. Only the caller and the API know their types.
    return [...(result as ChatToolMessage['content'] & object), ...feedbackParts];
  }
  const text = ownText(result);
  return feedback === undefined ? text : withFeedback(text, feedback);
}

function outputParts(result: unknown, feedback: string | undefined): FunctionCallOutput<unknown>['output'] {
  const feedbackParts = feedback === undefined ? [] : [{ type: 'input_text', text: feedback } as const];
  if (isPartList(result)) return [...result, ...feedbackParts];
  const text = ownText(result);
  return feedback === undefined ? text : [{ type: 'input_text', text }, ...feedbackParts];
}

/** Returns true for a list of content parts. Any other list is a plain value. */
function isPartList(result: unknown): result is readonly Members[] {
  return Array.isArray(result) && result.length > 0 && result.every((part) => isJsonObject(part) && isPart(part));
}

const PART_TYPES: ReadonlySet<unknown> = new Set(['text', 'input_text', 'input_image', 'input_file']);

function isPart(part: Members): boolean {
  return PART_TYPES.has(part['type']);
}

function ownText(result: unknown): string {
  return result === undefined || result === null ? '' : runnerText(result);
}
