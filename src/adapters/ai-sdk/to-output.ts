import { present } from '../../base/present.ts';
import { isJsonObject } from '../../base/json.ts';
import { partsOf, textField, type SdkFields, type PromptMessage } from './sdk-shapes.ts';

/** A tool's result in the form the SDK gives to models. */
export type ToolOutput = SdkFields & { readonly type: string };

/** Stands for the reason of a denied call where nobody gave one; providers have much the same words. */
const DENIED = 'Tool call execution denied.';

/**
 * The output with advice after it, a blank line between. Its kind stays what it is: an error stays an error. JSON goes out as
 * its text, which is what providers send for it anyway.
 *
 * @returns undefined for a shape that has no place for a text
 */
export function withText(output: unknown, text: string): ToolOutput | undefined {
  if (!isJsonObject(output)) return undefined;
  const { type, value } = output;
  const after = (before: string): string => (before === '' ? text : `${before}\n\n${text}`);
  switch (type) {
    case 'text':
    case 'error-text':
      return typeof value === 'string' ? { ...output, type, value: after(value) } : undefined;
    case 'json':
      return { ...output, type: 'text', value: after(jsonText(value)) };
    case 'error-json':
      return { ...output, type: 'error-text', value: after(jsonText(value)) };
    case 'content':
      return Array.isArray(value) ? { ...output, type, value: [...value, { type: 'text', text }] } : undefined;
    case 'execution-denied':
      return { ...output, type, reason: after(textField(output, 'reason') || DENIED) };
    default:
      return undefined;
  }
}

/** What the SDK gives to the model for a result of a tool that has no `toModelOutput` of its own. */
export function plainOutput(result: unknown): ToolOutput {
  if (typeof result === 'string') return { type: 'text', value: result };
  // As the SDK does: what JSON cannot say becomes null, and a value that has no JSON at all throws.
  return { type: 'json', value: JSON.parse(jsonText(result)) };
}

/** The prompt with one message of the user after it. What was there stays as it is, byte by byte. */
export function withMessage(prompt: readonly PromptMessage[], text: string): readonly PromptMessage[] {
  return [...prompt, { role: 'user', content: [{ type: 'text', text }] }];
}

/**
 * The prompt after an answer and what is said about it.
 *
 * @param parts  of the answer, in the SDK's own form; only what may go back to a model is kept
 */
export function withAnswer(
  prompt: readonly PromptMessage[],
  parts: readonly SdkFields[],
  text: string,
): readonly PromptMessage[] {
  const content = parts.flatMap(({ type, text: said, providerMetadata }) =>
    type === 'text' || type === 'reasoning'
      ? [{ type, text: said, ...present({ providerOptions: providerMetadata }) }]
      : [],
  );
  return withMessage([...prompt, { role: 'assistant', content }], text);
}

/**
 * The prompt with the results of some calls changed; where an id occurs twice, its last result is meant.
 *
 * @param change  gives the new output, or undefined where the result stays as it is
 * @returns the same list where nothing changes
 */
export function withResults(
  prompt: readonly PromptMessage[],
  change: (id: string, output: unknown) => ToolOutput | undefined,
): readonly PromptMessage[] {
  const seen = new Set<string>();
  const changed = new Map<number, PromptMessage>();
  for (const [index, message] of [...prompt.entries()].reverse()) {
    if (message.role !== 'tool' || !Array.isArray(message.content)) continue;
    const content: readonly unknown[] = message.content;
    const outputs = new Map<unknown, SdkFields>();
    for (const part of partsOf(content).toReversed()) {
      const id = textField(part, 'toolCallId');
      if (part['type'] !== 'tool-result' || seen.has(id)) continue;
      seen.add(id);
      const output = change(id, part['output']);
      if (output !== undefined) outputs.set(part, { ...part, output });
    }
    if (outputs.size === 0) continue;
    changed.set(index, { ...message, content: content.map((part) => outputs.get(part) ?? part) });
  }
  return changed.size === 0 ? prompt : prompt.map((message, index) => changed.get(index) ?? message);
}

/** Two counts of tokens in the SDK's form, added up member by member; what only one has is kept. */
export function addModelUsage(before: unknown, after: unknown): unknown {
  if (typeof before === 'number' && typeof after === 'number') return before + after;
  if (!isJsonObject(before) || !isJsonObject(after)) return after ?? before;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries([...names].map((name) => [name, addModelUsage(before[name], after[name])]));
}

function jsonText(value: unknown): string {
  // JSON.stringify answers undefined for undefined itself, a function and a symbol.
  return JSON.stringify(value) ?? 'null';
}
