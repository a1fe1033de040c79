import { textOrEmpty, isJsonObject, type Json } from '../../core/base/json.ts';
import { toJson } from '../../core/base/to-json.ts';

/**
 * As close as possible to the text that the model reads, else JSON: text; content parts, also as `content` of MCP tools
 * and subagents; `stdout` and `stderr` of a shell; a read `file`; `content` or `filenames` of a search; `result` of a
 * fetched page. An edit is kept without the complete file.
 */
export function toolResultOf(response: unknown): Json {
  if (typeof response === 'string') return response;
  if (response === undefined || response === null) return '';
  if (Array.isArray(response)) return textOfParts(response) ?? toJson(response);
  if (!isJsonObject(response)) return toJson(response);
  return textOf(response) ?? toJson(withoutFile(response));
}

function textOf(response: Readonly<Record<string, unknown>>): string | undefined {
  const { stdout, stderr, file, content, filenames, result } = response;
  if (typeof stdout === 'string') return [stdout, textOrEmpty(stderr)].filter((text) => text !== '').join('\n');
  if (isJsonObject(file) && typeof file['content'] === 'string') return file['content'];
  if (Array.isArray(content)) return textOfParts(content);
  if (Array.isArray(filenames) && filenames.every((name) => typeof name === 'string')) {
    return typeof content === 'string' && content !== '' ? content : filenames.join('\n');
  }
  return typeof result === 'string' ? result : undefined;
}

function textOfParts(parts: readonly unknown[]): string | undefined {
  const texts: string[] = [];
  for (const part of parts) {
    if (typeof part === 'string') texts.push(part);
    else if (isJsonObject(part) && part['type'] === 'text' && typeof part['text'] === 'string')
      texts.push(part['text']);
    else return undefined;
  }
  return texts.join('\n');
}

/** Removes the original file from the result of an edit. The patch in the result describes the change. */
function withoutFile(response: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!Array.isArray(response['structuredPatch'])) return response;
  const { originalFile: _whole, content: _written, ...rest } = response;
  return rest;
}
