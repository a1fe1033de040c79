import { objectsIn, isJsonObject } from '../../core/base/json.ts';
import { textField, type SdkFields, type PromptMessage } from './sdk-shapes.ts';

export type ToolOutput = SdkFields & { readonly type: string };

/** Default reason of a denied call. Providers use similar texts. */
const DENIED = 'Tool call execution denied.';

/** An error stays an error; JSON becomes text, as providers send it. Undefined for a type without text. */
export function withText(output: unknown, text: string): ToolOutput | undefined {
  if (!isJsonObject(output)) return undefined;
  const { type, value } = output;
  const appendText = (textBefore: string): string => (textBefore === '' ? text : `${textBefore}\n\n${text}`);
  switch (type) {
    case 'text':
    case 'error-text':
      return typeof value === 'string' ? { ...output, type, value: appendText(value) } : undefined;
    case 'json':
      return { ...output, type: 'text', value: appendText(jsonText(value)) };
    case 'error-json':
      return { ...output, type: 'error-text', value: appendText(jsonText(value)) };
    case 'content':
      return Array.isArray(value) ? { ...output, type, value: [...value, { type: 'text', text }] } : undefined;
    case 'execution-denied':
      return { ...output, type, reason: appendText(textField(output, 'reason') || DENIED) };
    default:
      return undefined;
  }
}

export function plainOutput(result: unknown): ToolOutput {
  if (typeof result === 'string') return { type: 'text', value: result };
  // This is the SDK's behaviour: values that JSON cannot represent become null, and a value without a JSON form throws.
  return { type: 'json', value: JSON.parse(jsonText(result)) };
}

/** Appends one user message to the prompt. The existing messages do not change in any byte. */
export function withMessage(prompt: readonly PromptMessage[], text: string): readonly PromptMessage[] {
  return [...prompt, { role: 'user', content: [{ type: 'text', text }] }];
}

/** If an id is repeated, only its last result can change. Returns the same list if nothing changes. */
export function withResults(
  prompt: readonly PromptMessage[],
  change: (id: string, output: unknown) => ToolOutput | undefined,
): readonly PromptMessage[] {
  const seenIds = new Set<string>();
  const changedMessages = new Map<number, PromptMessage>();
  for (const [index, message] of [...prompt.entries()].reverse()) {
    if (message.role !== 'tool' || !Array.isArray(message.content)) continue;
    const content: readonly unknown[] = message.content;
    const outputs = new Map<unknown, SdkFields>();
    for (const part of objectsIn(content).toReversed()) {
      const id = textField(part, 'toolCallId');
      if (part['type'] !== 'tool-result' || seenIds.has(id)) continue;
      seenIds.add(id);
      const output = change(id, part['output']);
      if (output !== undefined) outputs.set(part, { ...part, output });
    }
    if (outputs.size === 0) continue;
    changedMessages.set(index, { ...message, content: content.map((part) => outputs.get(part) ?? part) });
  }
  return changedMessages.size === 0 ? prompt : prompt.map((message, index) => changedMessages.get(index) ?? message);
}

function jsonText(value: unknown): string {
  // JSON.stringify returns undefined for undefined, functions and symbols.
  return JSON.stringify(value) ?? 'null';
}
