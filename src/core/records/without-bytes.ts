import { base64Mark, bytesInText } from '../base/binary-mark.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import type { StoredContent } from './agent-message.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';

export function withoutPicture<Block extends object>(block: Block): Block {
  // Any property name may be read from any object.
  const { data_base64: base64, ...rest } = block as Readonly<Record<string, unknown>>;
  if (rest['type'] !== 'image' || typeof base64 !== 'string') return block;
  const { bytes, digest } = base64Mark(base64, '');
  // The changed members are optional in an image block.
  return { ...rest, bytes, digest } as unknown as Block;
}

/** Of an imported payload. Returns the same object if there are no such bytes. Cost: one search per text. */
export function withoutBytes(payload: TrajectoryPayload): TrajectoryPayload {
  if (payload.kind === 'tool_ended') {
    const result = jsonWithoutBytes(payload.result);
    return result === payload.result ? payload : { ...payload, result };
  }
  if (payload.kind !== 'message_appended') return payload;
  const { message } = payload;
  const content = contentWithoutBytes(message.content);
  return content === message.content ? payload : { ...payload, message: { ...message, content } };
}

function contentWithoutBytes(content: StoredContent): StoredContent {
  if (typeof content === 'string') return textWithoutBytes(content);
  return mapIfChanged(content, (block) => {
    if (block.type === 'image') return withoutPicture(block);
    if (block.type === 'text') {
      const text = textWithoutBytes(block.text);
      return text === block.text ? block : { ...block, text };
    }
    if (block.type !== 'other') return block;
    const value = jsonWithoutBytes(block.value);
    return value === block.value ? block : { ...block, value };
  });
}

function textWithoutBytes(text: string): string {
  const shortenedText = bytesInText(text) ?? text;
  return typeof shortenedText === 'string' ? shortenedText : JSON.stringify(shortenedText);
}

function jsonWithoutBytes(value: Json): Json {
  if (typeof value === 'string') return bytesInText(value) ?? value;
  if (Array.isArray(value)) return mapIfChanged(value as readonly Json[], jsonWithoutBytes);
  if (!isJsonObject(value)) return value;
  let changedMembers: Record<string, Json> | undefined;
  for (const [name, member] of Object.entries(value)) {
    const shortened =
      typeof member === 'string' ? (bytesInText(member, { name, of: value }) ?? member) : jsonWithoutBytes(member);
    if (shortened === member) continue;
    changedMembers ??= { ...value };
    changedMembers[name] = shortened;
  }
  return changedMembers ?? value;
}

function mapIfChanged<Item>(items: readonly Item[], change: (item: Item) => Item): readonly Item[] {
  const mappedItems = items.map(change);
  return mappedItems.some((item, index) => item !== items[index]) ? mappedItems : items;
}
