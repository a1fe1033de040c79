import { isUtf8 } from 'node:buffer';

import { findNodeAtLocation, parseTree } from 'jsonc-parser';

/**
 * Appends a text part to the content of a tool result; every other byte of the message stays unchanged.
 *
 * @param message  JSON of a response or a batch
 * @param path     position of the response in a batch; empty for a single response
 * @returns undefined if the result has no content list
 * Cost: one parse of the message
 */
export function appendTextPart(message: Buffer, text: string, path: readonly number[] = []): Buffer | undefined {
  if (!isUtf8(message)) return undefined;
  const json = message.toString();
  const root = parseTree(json);
  const content = root === undefined ? undefined : findNodeAtLocation(root, [...path, 'result', 'content']);
  if (content?.type !== 'array') return undefined;
  const end = content.offset + content.length - 1;
  const part = JSON.stringify({ type: 'text', text });
  return Buffer.from(`${json.slice(0, end)}${content.children?.length ? ',' : ''}${part}${json.slice(end)}`);
}
