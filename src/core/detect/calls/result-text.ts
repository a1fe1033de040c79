import { canonicalJson } from '../../base/canonical-json.ts';
import { isJsonObject, type Json } from '../../base/json.ts';

/** Returns the text of a tool result: a string unchanged, the text parts of a content list, or any other value as JSON. */
export function resultText(result: Json): string {
  if (typeof result === 'string') return result;
  if (result === null) return '';
  if (Array.isArray(result)) {
    const parts: string[] = [];
    for (const part of result as readonly unknown[]) {
      if (typeof part === 'string') parts.push(part);
      else if (isJsonObject(part) && typeof part['text'] === 'string') parts.push(part['text']);
      else return canonicalJson(result);
    }
    return parts.join('\n');
  }
  return canonicalJson(result);
}
